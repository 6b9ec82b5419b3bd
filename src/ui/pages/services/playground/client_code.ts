import type { Handler, Service } from "../../../data/catalog.ts";
import { server } from "../../../data/server.ts";
import { ALIAS } from "../../../../names.ts";
import { recordOf } from "../../../widgets/pairs.tsx";
import { type Call, headersOf, urlOf } from "./request.ts";

/** A call as a command of a shell. */
export function curlOf(call: Call, service: Service): string {
  const headers = Object.entries(headersOf(call)).map(([name, value]) =>
    ` \\\n  -H ${quote(`${name}: ${value}`)}`
  );
  const body = call.body === "" ? "" : ` \\\n  --data-raw ${quote(call.body)}`;
  return `curl -X POST ${quote(urlOf(call, service))}${headers.join("")}${body}`;
}

/** In single quotes a shell reads everything as it is, but for the quote itself. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const CLIENTS = {
  Service: ["serviceClient", "serviceSendClient"],
  VirtualObject: ["objectClient", "objectSendClient"],
  Workflow: ["workflowClient", "workflowSendClient"],
} as const;

/** A call as TypeScript with the SDK's client of the ingress, which has no scopes: then without it. */
export function typescriptOf(call: Call, service: Service): string {
  if (call.scope !== "") return fetchOf(call, service);
  const { name, ty } = service;
  const isSend = call.mode === "send";
  const key = ty === "Service" ? "" : `, ${text(call.key)}`;
  const url = server.value?.ingress_endpoint ?? "http://localhost:8080";
  const isWorkflowRun = ty === "Workflow" && typeOf(call, service) === "Workflow";
  const client = CLIENTS[ty][isSend && !isWorkflowRun ? 1 : 0];
  const method = isWorkflowRun && isSend ? ".workflowSubmit" : member(call.handler);
  const parts = [...inputOf(call), ...optionsOf(call)].join(", ");
  return [
    `import * as clients from "@${ALIAS}dev/${ALIAS}-sdk-clients";`,
    "",
    `const ingress = clients.connect({ url: ${text(url)} });`,
    `const answer = await ingress.${client}({ name: ${text(name)} }${key})${method}(${parts});`,
  ].join("\n");
}

function fetchOf(call: Call, service: Service): string {
  const init = {
    method: "POST",
    headers: headersOf(call),
    ...(call.body !== "" && { body: call.body }),
  };
  const sent = JSON.stringify(init, null, 2);
  return `const answer = await fetch(${text(urlOf(call, service))}, ${sent});`;
}

function typeOf({ handler }: Call, { handlers }: Service): Handler["ty"] {
  return handlers.find(({ name }) => name === handler)?.ty;
}

function inputOf({ body, contentType }: Call): string[] {
  if (body === "") return [];
  if (!contentType.includes("json")) return [`new TextEncoder().encode(${text(body)})`];
  return [isJson(body) ? body : text(body)];
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

function optionsOf({ mode, delay, idempotencyKey, headers, contentType, body }: Call): string[] {
  const named = recordOf(headers);
  const options = [
    ...(idempotencyKey === "" ? [] : [`idempotencyKey: ${text(idempotencyKey)}`]),
    ...(Object.keys(named).length === 0 ? [] : [`headers: ${JSON.stringify(named)}`]),
    ...(mode === "send" && delay.trim() !== "" ? [`delay: ${delayOf(delay)}`] : []),
    ...(body !== "" && !contentType.includes("json") ? ["input: clients.serde.binary"] : []),
  ];
  if (options.length === 0) return [];
  const kind = mode === "send" ? "SendOpts" : "Opts";
  return [`clients.${kind}.from({ ${options.join(", ")} })`];
}

const UNITS: Readonly<Record<string, string>> = {
  ...{ ms: "milliseconds", s: "seconds", m: "minutes" },
  ...{ h: "hours", d: "days" },
};

/** A delay as the SDK takes it. */
function delayOf(delay: string): string {
  const [, count, unit = ""] = /^\s*(\d+)\s*(ms|s|m|h|d)\s*$/.exec(delay) ?? [];
  return count === undefined ? text(delay) : `{ ${UNITS[unit]}: ${count} }`;
}

function text(value: string): string {
  return JSON.stringify(value);
}

function member(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${text(name)}]`;
}
