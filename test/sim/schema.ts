import type { Controls } from "../../src/model/limits.ts";
import {
  type Deployment,
  type HandlerOptions,
  Schema,
  type ServiceSchema,
} from "../../src/model/schema.ts";
import type { Access, ServiceType, Target } from "../../src/model/target.ts";

/** Longer than any seed: who repeats a request must find its answer. */
export const KEPT_MS = 3_600_000;

const retry = { initialIntervalMs: 15, maxIntervalMs: 300, factor: 2 } as const;

function service(
  name: string,
  type: ServiceType,
  handlers: Record<string, Access | readonly [Access, HandlerOptions]>,
): ServiceSchema {
  return {
    name,
    type,
    deployment: "dp_1",
    revision: 1,
    public: true,
    options: {},
    handlers: Object.fromEntries(
      Object.entries(handlers).map(([name, given]) => {
        const [access, options] = typeof given === "string" ? [given, {}] as const : given;
        return [name, { name, access, public: true, options }];
      }),
    ),
  };
}

const giveUp = (maxAttempts: number, onMaxAttempts: "pause" | "kill") => ({
  retry: { ...retry, maxAttempts, onMaxAttempts },
});

/**
 * `greeter` has no key; `counter` may call `membership` but not the other way, so that nobody waits in
 * a circle. `fragile` is killed and `brittle` and `icebox` are paused by failures.
 */
const services = [
  service("greeter", "service", { hi: "none", brief: ["none", { journalRetentionMs: 0 }] }),
  service("counter", "virtual_object", {
    add: "exclusive",
    lazy: ["exclusive", { lazyState: true }],
    peek: "shared",
  }),
  service("ledger", "virtual_object", {
    add: ["exclusive", { journalRetentionMs: 2_000 }],
    peek: "shared",
  }),
  service("flow", "workflow", { run: "run", ask: "shared" }),
  service("fragile", "service", { kill: ["none", giveUp(3, "kill")] }),
  service("brittle", "service", { pause: ["none", giveUp(2, "pause")] }),
  service("icebox", "virtual_object", { put: ["exclusive", giveUp(2, "pause")] }),
];

const deployment: Deployment = {
  id: "dp_1",
  uri: "http://localhost:9080/",
  mode: "bidi",
  httpVersion: "HTTP/2.0",
  dialect: "svc",
  additionalHeaders: {},
  metadata: {},
  minProtocol: 5,
  maxProtocol: 7,
  createdAt: 0,
  services,
};

/** The same once more, in a later revision that does not speak the newest version. */
const second: Deployment = {
  ...deployment,
  id: "dp_2",
  uri: "http://localhost:9081/",
  maxProtocol: 6,
  services: services.map((one) => ({ ...one, deployment: "dp_2", revision: 2 })),
};

/** What is registered. Everything retries for ever, but for those named after their weakness. */
export function simulatedSchema(
  { eagerStateBytesMax, yieldThresholdMs, controls }: {
    readonly eagerStateBytesMax: number;
    readonly yieldThresholdMs: number;
    readonly controls: Controls;
  },
): Schema {
  const defaults = {
    inactivityTimeoutMs: 60_000,
    abortTimeoutMs: 600_000,
    journalRetentionMs: KEPT_MS,
    idempotencyRetentionMs: KEPT_MS,
    workflowRetentionMs: KEPT_MS,
    eagerStateBytesMax,
    yieldThresholdMs,
    retry: { ...retry, maxAttempts: 1e9, onMaxAttempts: "pause" },
  } as const;
  return new Schema([deployment, second], defaults, controls);
}

/** After how many failures a handler is given up. */
export function attemptsMax({ service: name, handler }: Target): number {
  const options = services.find((one) => one.name === name)?.handlers[handler]?.options;
  return options?.retry?.maxAttempts ?? Infinity;
}

/** `greeter/hi`, `counter/bob/add` or, in a scope, `a:counter/bob/add`. */
export function targetOf(path: string): Target {
  const colon = path.indexOf(":");
  const scope = colon < 0 ? {} : { scope: path.slice(0, colon) };
  const parts = path.slice(colon + 1).split("/");
  const [name = "", key] = parts, handler = parts.at(-1) ?? "";
  const found = services.find((one) => one.name === name);
  const access = found?.handlers[handler]?.access;
  if (!found || !access) throw new RangeError(`Cannot find the handler "${path}"`);
  const head = { service: name, handler, type: found.type, access, ...scope };
  return parts.length === 3 && key !== undefined ? { ...head, key } : head;
}
