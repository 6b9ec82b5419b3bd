import { type CompareRequest, many } from "./compare_request.ts";

const NOBODY = "inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo";
const IN = { port: "ingress" } as const;

function on(path: string, body?: unknown): CompareRequest {
  return { ...IN, method: "POST", path, ...(body === undefined ? {} : { body }) };
}

const IDEMPOTENT = {
  target: "idempotentInvocation",
  service: "Greeter",
  handler: "greet",
  idempotencyKey: "k",
};

const TARGETS: readonly unknown[] = [
  "",
  {},
  { target: "x" },
  { target: "workflow" },
  { target: "invocation", invocationId: "foo" },
  { target: "invocation", invocationId: NOBODY },
  { target: "workflow", workflowName: "Nope", workflowKey: "a" },
  { target: "workflow", workflowName: "Flow", workflowKey: "a", scope: "bad scope" },
  { target: "workflow", workflowName: "Flow", workflowKey: "zz", scope: "ok" },
  IDEMPOTENT,
  { ...IDEMPOTENT, key: null },
  { ...IDEMPOTENT, idempotencyKey: "other" },
];

const AWAKEABLES = [
  "foo",
  "sign_1foo",
  "prom_1foo",
  "sign_1uX9vauZJ-ByiSNDB475i5uhgIXpkeQZ5AAAAEQ",
  "sign_1uX9vauZJ-ByiSNDB475i5uhgIXpkeQZ5AAAAAQ",
  "prom_1uX9vauZJ-ByiSNDB475i5uhgIXpkeQZ5AAAAEQ",
] as const;

const KEY = { "idempotency-key": "k" };

/** Calls, sends, results and awakeables (docs/spec/ingress.md#routes). */
export const INGRESS: readonly CompareRequest[] = [
  { ...on("/call/Greeter/greet", "you"), headers: KEY },
  { ...on("/call/Greeter/greet", "other"), headers: KEY },
  { ...on("/send/Greeter/greet", "other"), headers: KEY },
  on("/call/Greeter/nothing"),
  on("/call/Greeter/refuse", "no"),
  { ...on("/call/Greeter/greet"), text: "{" },
  { ...on("/lookup"), text: "{" },
  { ...on("/output"), text: "" },
  { ...on("/call/Greeter/greet", "x"), contentType: "text/plain" },
  { ...on("/call/Greeter/greet", "x"), contentType: "" },
  on("/call/Nope/greet", 1),
  on("/call/Greeter/nope", 1),
  on("/call/Counter/add", 1),
  on("/call/Counter/k/value"),
  on("/send/Greeter/greet?delay=often", "x"),
  on("/send/Greeter/greet?delay=PT100S", "x"),
  on("/call/Greeter/greet?delay=1s", "x"),
  ...many("GET", ["/call/Greeter/nothing", "/lookup", "/attach", "/nope", "/health"], IN),
  on("/scope/mine/call/Greeter/greet", "x"),
  on("/scope/bad scope/call/Greeter/greet", "x"),
  ...["lookup", "output", "attach"].flatMap((kind) => TARGETS.map((body) => on(`/${kind}`, body))),
  ...["foo", NOBODY].flatMap((id) => many("GET", [`/attach/${id}`, `/output/${id}`], IN)),
  on(`/attach/${NOBODY}`),
  ...many("GET", ["/invocation/Greeter/greet/k/attach", "/invocation/Greeter/greet/k/output"], IN),
  ...many("GET", [`/invocation/${NOBODY}/attach`, `/invocation/${NOBODY}/output`], IN),

  { ...on("/send/Flow/a/run", "me"), learns: "a" },
  on("/send/Flow/a/run", "me again"),
  on("/call/Flow/a/run", "me again"),
  { ...on("/call/Flow/q/run", "me"), headers: KEY },
  ...many("GET", ["/output/$a", "/workflow/Flow/a/output", "/workflow/Flow/nobody/output"], IN),
  { ...on("/call/Flow/a/peek"), until: "me" },
  on("/call/Flow/a/go", "on"),
  on("/call/Flow/a/go", "on"),
  ...many("GET", ["/attach/$a", "/workflow/Flow/a/attach", "/workflow/Flow/a/output"], IN),
  ...["output", "attach"].map((kind) =>
    on(`/${kind}`, { target: "workflow", workflowName: "Flow", workflowKey: "a" })
  ),
  ...AWAKEABLES.flatMap((id) =>
    ["/resolve", "/reject", "/nope", ""].map((verb) => on(`/awakeables/${id}${verb}`, "x"))
  ),
  ...many("GET", [`/awakeables/${AWAKEABLES[3]}/resolve`], IN),
];
