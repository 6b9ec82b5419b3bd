import { beforeAll, describe, expect, test } from "vitest";
import type { Authenticator } from "../../src/auth/authenticator.ts";
import { ingressDocument } from "../../src/ingress/openapi/document.ts";
import { parsePath, type Route } from "../../src/ingress/path.ts";
import { printAwakeableId } from "../../src/model/awakeable.ts";
import type { Target } from "../../src/model/target.ts";
import { authenticatorOf, shows } from "../support/tokens.ts";
import { fixture } from "./_fixture.ts";
import { id } from "./_names.ts";

const flowControl = { scopes: true, scopedObjects: true };
const ASKERS = [
  ...["none", "wrong", "viewer", "operator", "admin"],
  ...["invoke", "invoke:Svc/*", "invoke:Svc/opt", "invoke:Obj/*", "invoke:scope/a/*/*"],
];
const ofService: Target = { service: "Svc", handler: "opt", type: "service", access: "none" };

/**
 * The status for each of `ASKERS`, for each route that the document of the ingress has. Services are
 * called as Svc/opt, those with a key as Obj/k/get, scopes are `a`, and results are those of Svc/opt.
 */
const EXPECTED: Readonly<Record<string, readonly number[]>> = {
  "POST /svc/call/{service}/{handler}": [401, 401, 403, 200, 200, 200, 200, 200, 403, 403],
  "POST /svc/send/{service}/{handler}": [401, 401, 403, 202, 202, 202, 202, 202, 403, 403],
  "POST /svc/call/{service}/{key}/{handler}": [401, 401, 403, 200, 200, 200, 403, 403, 200, 403],
  "POST /svc/send/{service}/{key}/{handler}": [401, 401, 403, 202, 202, 202, 403, 403, 202, 403],
  "POST /svc/scope/{scope}/call/{service}/{handler}": //
    [401, 401, 403, 200, 200, 200, 200, 200, 403, 200],
  "POST /svc/scope/{scope}/send/{service}/{handler}": //
    [401, 401, 403, 202, 202, 202, 202, 202, 403, 202],
  "POST /svc/scope/{scope}/call/{service}/{key}/{handler}": //
    [401, 401, 403, 200, 200, 200, 403, 403, 200, 200],
  "POST /svc/scope/{scope}/send/{service}/{key}/{handler}": //
    [401, 401, 403, 202, 202, 202, 403, 403, 202, 202],
  "GET /svc/attach/{invocationId}": [401, 401, 403, 200, 200, 200, 200, 200, 403, 403],
  "POST /svc/attach": [401, 401, 403, 200, 200, 200, 200, 200, 403, 403],
  "GET /svc/output/{invocationId}": [401, 401, 403, 200, 200, 200, 200, 200, 403, 403],
  "POST /svc/output": [401, 401, 403, 200, 200, 200, 200, 200, 403, 403],
  // It says nothing of whether there is such an invocation.
  "POST /svc/lookup": [401, 401, 403, 200, 200, 200, 200, 200, 200, 200],
  // The id is a secret of its own.
  "POST /svc/awakeables/{awakeableId}/resolve": [401, 401, 403, 202, 202, 202, 202, 202, 202, 202],
  "POST /svc/awakeables/{awakeableId}/reject": [401, 401, 403, 202, 202, 202, 202, 202, 202, 202],
  "GET /svc/health": ASKERS.map(() => 200),
  "GET /svc/ready": ASKERS.map(() => 200),
  "GET /openapi": ASKERS.map(() => 200),
};

/** Paths of earlier versions and other spellings, and the route whose access they have. */
const SPELLINGS: readonly (readonly [path: string, route: string])[] = [
  ["/Svc/opt", "POST /svc/call/{service}/{handler}"],
  ["/Svc/opt/send", "POST /svc/send/{service}/{handler}"],
  ["/Obj/k/get", "POST /svc/call/{service}/{key}/{handler}"],
  ["/Obj/k/get/send", "POST /svc/send/{service}/{key}/{handler}"],
  ["//svc/call/Svc/opt//", "POST /svc/call/{service}/{handler}"],
  ["/svc/scope/%61/call/Svc/opt", "POST /svc/scope/{scope}/call/{service}/{handler}"],
  [`/svc/invocation/${id}/attach`, "GET /svc/attach/{invocationId}"],
  [`/svc/invocation/${id}/output`, "GET /svc/output/{invocationId}"],
  ["/svc/invocation/Svc/opt/ik/attach", "GET /svc/attach/{invocationId}"],
  ["/svc/invocation/Svc/opt/ik/output", "GET /svc/output/{invocationId}"],
  ["/svc/workflow/Wf/k/attach", "GET /svc/attach/{invocationId}"],
  ["/svc/workflow/Wf/k/output", "GET /svc/output/{invocationId}"],
  ["/svc/a/AWAKEABLE/resolve", "POST /svc/awakeables/{awakeableId}/resolve"],
];
const AWAKEABLE = printAwakeableId(id, 17);

let authenticator: Authenticator;
beforeAll(async () => void (authenticator = await authenticatorOf(ASKERS.slice(2))));

/** The path of a route for a request. */
function pathOf(route: string): string {
  const [, template = ""] = route.split(" ");
  const isKeyed = template.includes("{key}");
  return template.replace("{service}", isKeyed ? "Obj" : "Svc")
    .replace("{handler}", isKeyed ? "get" : "opt")
    .replace("{key}", "k").replace("{scope}", "a")
    .replace("{invocationId}", id).replace("{awakeableId}", AWAKEABLE);
}

/** Sends a request, and answers its status and whether anything came of it. */
async function ask(method: string, path: string, asker: string) {
  const served = fixture({ authenticator, flowControl });
  const { invocations } = served;
  invocations.existing = ofService;
  const isTarget = /\/(attach|output|lookup)$/.test(path) && method === "POST";
  const body = path.endsWith("lookup")
    ? { target: "workflow", workflowName: "Wf", workflowKey: "k" }
    : { target: "invocation", invocationId: id };
  const response = await served.ask(method, path.replace("AWAKEABLE", AWAKEABLE), {
    headers: asker === "none" ? {} : shows(asker),
    ...(isTarget && { body: JSON.stringify(body) }),
  });
  const { calls, sends, signals } = invocations;
  return { status: response.status, done: calls.length + sends.length + signals.length };
}

const schema = fixture({ flowControl });
const typeOf = (name: string) => name === "Obj" ? "virtual_object" as const : "service" as const;

test("every route of the ingress has a line here, and the lines have every kind of route", () => {
  const { paths } = ingressDocument("0.0.0", flowControl) as {
    paths: Readonly<Record<string, object>>;
  };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  );
  expect(Object.keys(EXPECTED).toSorted()).toEqual(routes.toSorted());
  // A kind that is new in `path.ts` does not compile here until it has a line.
  const kinds: Readonly<Record<Route["kind"], true>> = {
    ...{ call: true, send: true, attach: true, output: true, lookup: true, awakeable: true },
    ...{ health: true, ready: true, openapi: true },
  };
  const found = routes.map((route) => parsePath(pathOf(route), typeOf).kind);
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(kinds).toSorted());
  expect(schema.invocations.calls).toEqual([]);
});

describe.each(Object.entries(EXPECTED))("%s", (route, expected) => {
  const [method = ""] = route.split(" ");
  const spelled = SPELLINGS.filter(([, like]) => like === route).map(([path]) => path);
  const alias = pathOf(route).replace(/^\/svc\//, "/restate/");
  test.each([...new Set([pathOf(route), alias]), ...spelled])("%s", async (path) => {
    const statuses: number[] = [];
    for (const asker of ASKERS) {
      const { status, done } = await ask(method, path, asker);
      statuses.push(status);
      if (status > 299) expect(done, asker).toBe(0);
    }
    expect(statuses).toEqual(expected);
  });
});

test("a path that is no route says so to those with a token, and to nobody else", async () => {
  for (const path of ["/svc/nothing", "/No/such", "/svc/call/No/such", "/svc/scope/a/nothing"]) {
    const statuses = await Promise.all(
      ASKERS.map(async (asker) => (await ask("POST", path, asker)).status),
    );
    expect(statuses.slice(0, 2), path).toEqual([401, 401]);
    expect(statuses.slice(2).every((status) => [400, 403, 404].includes(status)), path).toBe(true);
  }
});
