import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Failure } from "../../src/errors.ts";
import { parsePath, type Route, trimSlashes } from "../../src/ingress/path.ts";
import { printLegacyPath, printPath } from "../../src/ingress/path_print.ts";
import { printInvocationId } from "../../src/model/id.ts";
import type { ServiceType } from "../../src/model/target.ts";
import { DIALECTS } from "../../src/names.ts";

const types: Record<string, ServiceType> = {
  Svc: "service",
  Obj: "virtual_object",
  Wf: "workflow",
};
const typeOf = (name: string) => types[name];
const id = printInvocationId(new Uint8Array(24));

function outcome(path: string): Route | string {
  try {
    return parsePath(trimSlashes(path), typeOf);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return `${cause.status} ${cause.message}`;
  }
}

const expected =
  "400 bad path, expected /svc/call/:service/:handler, /svc/send/:service/:handler, " +
  "/svc/scope/:scope/call/:service/:handler, /svc/attach/:invocation_id, " +
  "/svc/output/:invocation_id, or /svc/lookup; objects and workflows take a key: " +
  "/svc/call/:object/:key/:handler; awakeables are completed at /svc/awakeables/:id/resolve and " +
  "/svc/awakeables/:id/reject; GET /openapi describes all";
const idExample = "; an invocation id looks like inv_17kO36pqgIap3xDjDhLpCIiunpzEd8hWuT";
const ofAdmin = (segment: string) =>
  `; /${segment} is a path of the admin API, which has a port of its own (by default 9070)`;
const bad = (path: string) =>
  `400 bad path: ${path}; a call is POST /svc/call/:service/:handler, and GET /openapi describes ` +
  "all paths";
const legacy =
  "400 bad path, expected either /:service-name/:handler or /:object-name/:object-key/:handler";
const unknown = (name: string) =>
  `404 service '${name}' not found, make sure to register the service before calling it.`;
const awakeable =
  "400 bad path, expected either /svc/awakeables/:id/resolve or /svc/awakeables/:id/reject";
const invocation = "400 bad path, expected either /svc/invocation/:invocation_id/output or " +
  "/svc/invocation/:invocation_id/attach or " +
  "/svc/invocation/:invocation_target/:idempotency_key/output or " +
  "/svc/invocation/:invocation_target/:idempotency_key/attach";
const workflow =
  "400 bad path, expected either /svc/workflow/:workflow_name/:workflow_key/output or " +
  "/svc/workflow/:workflow_name/:workflow_key/attach";
const badKey = "400 bad path, cannot decode key: it is not UTF-8";

const svc = { service: "Svc", handler: "h" };
const obj = { service: "Obj", handler: "h", key: "k" };

// The reference server's answers to the same paths.
const rows: [path: string, outcome: Route | string][] = [
  ["/svc/call/Svc/h", { kind: "call", ...svc }],
  ["/svc/call/Svc/h/", { kind: "call", ...svc }],
  ["/restate/send/Svc/h", { kind: "send", ...svc }],
  ["/svc/call/Obj/k/h", { kind: "call", ...obj }],
  ["/svc/send/Wf/k/run", { kind: "send", service: "Wf", key: "k", handler: "run" }],
  ["/svc/scope/s/call/Svc/h", { kind: "call", ...svc, scope: "s" }],
  ["/svc/scope/s%20/send/Obj/k/h", { kind: "send", ...obj, scope: "s " }],
  ["/svc/scope//call/Svc/h", { kind: "call", ...svc, scope: "" }],
  ["/Svc/h", { kind: "call", ...svc }],
  ["/Svc/h/", { kind: "call", ...svc }],
  ["/Svc/h//", { kind: "call", ...svc }],
  ["///Svc/h/send//", { kind: "send", ...svc }],
  ["//svc/call/Svc/h///", { kind: "call", ...svc }],
  ["//svc/call/Obj//h/", { kind: "call", ...obj, key: "" }],
  ["/svc/call/Obj/k//", expected],
  ["//svc", bad("/svc")],
  ["///", bad("/")],
  ["/Svc/h/send", { kind: "send", ...svc }],
  ["/Obj/k/h", { kind: "call", ...obj }],
  ["/Obj/k/send", { kind: "call", service: "Obj", key: "k", handler: "send" }],
  ["/Obj/k/send/send", { kind: "send", service: "Obj", key: "k", handler: "send" }],
  ["/Obj/k/h/send", { kind: "send", ...obj }],
  ["/Obj//h", { kind: "call", ...obj, key: "" }],
  [`/svc/attach/${id}`, { kind: "attach", subject: { by: "invocation", id } }],
  [`/svc/output/${id}`, { kind: "output", subject: { by: "invocation", id } }],
  ["/svc/attach", { kind: "attach", subject: { by: "body" } }],
  ["/svc/output/", { kind: "output", subject: { by: "body" } }],
  ["/svc/lookup", { kind: "lookup" }],
  ["/svc/health", { kind: "health" }],
  ["/restate/ready", { kind: "ready" }],
  ["/openapi", { kind: "openapi" }],
  ["/svc/awakeables/foo/resolve", { kind: "awakeable", id: "foo", verb: "resolve" }],
  ["/svc/a/foo/reject/x", { kind: "awakeable", id: "foo", verb: "reject" }],
  [`/svc/invocation/${id}/attach`, { kind: "attach", subject: { by: "invocation", id } }],
  ["/svc/invocation/Svc/h/a%20b/output", {
    kind: "output",
    subject: { by: "idempotencyKey", ...svc, idempotencyKey: "a%20b" },
  }],
  ["/svc/invocation/Obj/k/h/ik/attach", {
    kind: "attach",
    subject: { by: "idempotencyKey", ...obj, idempotencyKey: "ik" },
  }],
  // Whatever stands behind the verb has never mattered.
  ["/svc/workflow/Wf/k/output/x", {
    kind: "output",
    subject: { by: "workflow", service: "Wf", key: "k" },
  }],
  ["/svc/invocation/Svc/h/ik/attach/x", {
    kind: "attach",
    subject: { by: "idempotencyKey", ...svc, idempotencyKey: "ik" },
  }],
  ["/svc/workflow/Any/k%2F/output", {
    kind: "output",
    subject: { by: "workflow", service: "Any", key: "k/" },
  }],

  ["/", bad("/")],
  ["/x", bad("/x")],
  ["/deployments", `400 bad path: /deployments${ofAdmin("deployments")}`],
  ["/services/Svc", `${unknown("services")}${ofAdmin("services")}`],
  ["/svc", bad("/svc")],
  ["/svc/", bad("/svc")],
  ["/a/b/c/d/e/f/g/h", bad("/a/b/c/d/e/f/g/h")],
  ["*", bad("*")],
  ["/Svc/", bad("/Svc")],
  ["/Nope/x", unknown("Nope")],
  ["/SVC/call/Svc/h", unknown("SVC")],
  ["/OPENAPI/x", unknown("OPENAPI")],
  ["/openapi/x", "404 not found"],
  ["/openapi/x/y/z", "404 not found"],
  ["/Svc/h/foo", legacy],
  ["/Svc/h/send/x", legacy],
  ["/Svc/h//x", legacy],
  ["/Obj/h", legacy],
  ["/Obj/k/h/foo", legacy],
  ["/svc/call", expected],
  ["/svc/call/Svc", expected],
  ["/svc/call/Svc/h/x", expected],
  ["/svc/call/Svc/h/send", expected],
  ["/svc/call/Obj/k", expected],
  ["/svc/call/Obj/k/h/x", expected],
  ["/restate/call", expected.replaceAll("svc", "restate")],
  ["/svc/call/Nope", unknown("Nope")],
  ["/svc/call/Nope/x/y/z", unknown("Nope")],
  ["/svc/scope/a%20b/call/Nope/h", unknown("Nope")],
  ["/svc/scope", expected],
  ["/svc/scope/s", expected],
  ["/svc/scope/s/call", expected],
  ["/svc/scope/s/call/Svc", expected],
  ["/svc/scope/s/foo/Svc/h", expected],
  ["/svc/scope/%FF/call/Svc/h", badKey],
  ["/svc/call/Obj/%FF/h", badKey],
  ["/svc/workflow/Wf/%FF/output", badKey],
  ["/svc/nope/Svc/h", "404 not found"],
  ["/svc/Call/Svc/h", "404 not found"],
  ["/svc/nope", "404 not found"],
  ["/svc/lookup/x", expected],
  [`/svc/attach/${id}/x`, expected],
  ["/svc/attach/foo", `400 bad invocation id 'foo': bad format${idExample}`],
  [
    "/svc/output/inv_xyz",
    `400 bad invocation id 'inv_xyz': unrecognized codec version${idExample}`,
  ],
  ["/svc/attach/inv_1", `400 bad invocation id 'inv_1': bad length${idExample}`],
  ["/svc/output/inv_", `400 bad invocation id 'inv_': bad length${idExample}`],
  [
    "/svc/output/INV_1x",
    `400 bad invocation id 'INV_1x': unrecognized resource type: INV${idExample}`,
  ],
  ["/svc/output/dp_2x", `400 bad invocation id 'dp_2x': unrecognized codec version${idExample}`],
  [
    `/svc/output/${id.slice(0, -1)}-`,
    `400 bad invocation id '${id.slice(0, -1)}-': base62 decode error${idExample}`,
  ],
  [
    "/svc/invocation/dp_1x/attach",
    `400 bad invocation id 'dp_1x': id doesn't match the expected type${idExample}`,
  ],
  ["/svc/awakeables", awakeable],
  ["/svc/awakeables/foo", awakeable],
  ["/svc/awakeables/foo/bar", "404 not found"],
  ["/svc/invocation", invocation],
  ["/svc/invocation/foo", invocation],
  ["/svc/invocation/foo/bar", "404 not found"],
  ["/svc/invocation/Svc/h/ik", invocation],
  ["/svc/invocation/Svc/h/ik/foo", "404 not found"],
  ["/svc/invocation/Nope/x/y/output", unknown("Nope")],
  ["/svc/workflow", workflow],
  ["/svc/workflow/Wf", workflow],
  ["/svc/workflow/Wf/k", workflow],
  ["/svc/workflow/Wf/k/foo", "404 not found"],
];

const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/);
const text = fc.string({ unit: "grapheme", maxLength: 12 });
const idempotencyKey = fc.stringMatching(/^[a-zA-Z0-9%+ _.-]{0,8}$/);
const target = fc.oneof(
  fc.record({ service: fc.constant("Svc"), handler: name }),
  fc.record({ service: fc.constantFrom("Obj", "Wf"), key: text, handler: name }),
);
const invoke = fc.tuple(
  fc.record({ kind: fc.constantFrom("call" as const, "send" as const) }),
  target,
  fc.oneof(fc.constant({}), fc.record({ scope: text })),
).map(([kind, named, scope]) => ({ ...kind, ...named, ...scope }));
const subject = fc.oneof(
  fc.constant({ by: "body" as const }),
  fc.constant({ by: "invocation" as const, id }),
  fc.record({ by: fc.constant("workflow" as const), service: name, key: text }),
  fc.tuple(target, idempotencyKey).map(([named, key]) => ({
    by: "idempotencyKey" as const,
    ...named,
    idempotencyKey: key,
  })),
);
const route: fc.Arbitrary<Route> = fc.oneof(
  invoke,
  fc.record({ kind: fc.constantFrom("attach" as const, "output" as const), subject }),
  fc.record({
    kind: fc.constantFrom(
      "lookup" as const,
      "health" as const,
      "ready" as const,
      "openapi" as const,
    ),
  }),
  fc.record({
    kind: fc.constant("awakeable" as const),
    id: name,
    verb: fc.constantFrom("resolve" as const, "reject" as const),
  }),
);

describe("paths", () => {
  it.each(rows)("%s", (path, wanted) => {
    expect(outcome(path)).toEqual(wanted);
  });

  it("every printed path parses back", () => {
    fc.assert(fc.property(route, fc.constantFrom(...DIALECTS), (given, dialect) => {
      expect(parsePath(printPath(given, dialect), typeOf)).toEqual(given);
    }));
  });

  it("every printed legacy path parses back", () => {
    fc.assert(
      fc.property(
        invoke.filter(({ scope }: { scope?: string }) => scope === undefined),
        (given) => {
          expect(parsePath(printLegacyPath(given), typeOf)).toEqual(given);
        },
      ),
    );
  });

  it("no path makes anything but a route or a refusal", () => {
    const segment = fc.oneof(
      text,
      fc.constantFrom(..."svc restate call send scope attach".split(" ")),
      fc.constantFrom("Svc", "Obj", "", "%", "%FF", "invocation", "workflow", "a"),
    );
    fc.assert(fc.property(fc.array(segment), (segments) => {
      outcome(`/${segments.join("/")}`);
    }));
  });
});
