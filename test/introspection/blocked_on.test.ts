import { describe, expect, test } from "vitest";
import { useOneAndThreeFiles } from "./_one_and_three.ts";
import { NOW, Stored } from "./_queued.ts";
import { rowsOf } from "./_small.ts";

// What heads of virtual queues wait for: rates and pauses. `flow_tables.test.ts` has the rest.

const stored = new Stored();
const rate = { count: 1, periodMs: 60_000 };
const pin = { deployment: "dp_old", protocol: 6 } as const;
const waits = (service: string, row = {}) =>
  stored.invocation({ service, handler: "send", status: "queued", row });

// Rates of a service and of a handler, with less than a token; and with one.
stored.service("Calm", { limits: { rate } });
stored.bucket("service:Calm", 400_000, NOW - 30_000);
waits("Calm");
stored.service("Paced", { handlers: { send: { rate } } });
stored.bucket("handler:Paced/send", 0, NOW - 59_000);
waits("Paced");
stored.service("Ample", { limits: { rate }, handlers: { send: { rate } } });
stored.bucket("service:Ample", 400_000, NOW - 36_000);
waits("Ample");
// What has run before needs no token.
stored.service("Again", { limits: { rate } });
stored.bucket("service:Again", 0, NOW);
waits("Again", { runningAt: NOW - 5 });
// The narrowest is said, and of one level that too many run.
stored.service("Both", { limits: { rate }, handlers: { send: { concurrency: 1, rate } } });
stored.bucket("service:Both", 0, NOW);
stored.bucket("handler:Both/send", 0, NOW);
stored.invocation({ service: "Both", handler: "send", status: { kind: "invoked" } });
waits("Both");
// Deployments that are paused: one that is bound to, and a latest one.
stored.paused("deployment", "dp_old");
stored.paused("deployment", "dp_new");
stored.deployment("dp_old", ["Bound", "Unbound"], 1);
stored.deployment("dp_mid", ["Bound", "Unbound"], 2);
stored.deployment("dp_new", ["Latest", "Still"], 3);
waits("Bound", { pin });
waits("Unbound");
waits("Latest");
// Whose service is paused too: that is checked first.
stored.service("Still", { paused: true });
waits("Still");

const { open } = useOneAndThreeFiles(stored);

const paused = (what: string, name: string) => ({ resource: "paused", paused: what, name });

describe.each(["one file", "three files"])("of %s", (from) => {
  test.each([
    ["Calm", { resource: "service-rate", service: "Calm" }],
    ["Paced", { resource: "handler-rate", service: "Paced", handler: "send" }],
    ["Ample", undefined],
    ["Again", undefined],
    ["Both", { resource: "handler-concurrency", service: "Both", handler: "send" }],
    ["Bound", paused("deployment", "dp_old")],
    ["Unbound", undefined],
    ["Latest", paused("deployment", "dp_new")],
    ["Still", paused("service", "Still")],
  ])("the head of %s waits for what it says", async (service, wanted) => {
    const [found = {}] = await rowsOf(
      open[from]!,
      `select s.status, s.blocked_on, s.blocked_on_json from sys_scheduler s
        join sys_vqueue_meta m on m.id = s.id where m.service_name = '${service}'`,
      stored.running,
    ) as Record<string, string>[];
    const { status, blocked_on: on, blocked_on_json: json } = found;
    expect(status).toBe(wanted === undefined ? "ready" : "blocked");
    expect(on).toBe(wanted?.resource);
    expect(json === undefined ? undefined : JSON.parse(json)).toEqual(wanted);
  });
});
