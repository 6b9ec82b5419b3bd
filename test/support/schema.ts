import { type Deployment, Schema, type ServiceSchema } from "../../src/model/schema.ts";
import type { Access, ServiceType, Target } from "../../src/model/target.ts";

/** Server defaults as the configuration has them, for tests that need a schema without a config. */
export const defaults = {
  inactivityTimeoutMs: 60_000,
  abortTimeoutMs: 600_000,
  journalRetentionMs: 86_400_000,
  idempotencyRetentionMs: 86_400_000,
  workflowRetentionMs: 86_400_000,
  eagerStateBytesMax: 1 << 20,
  retry: {
    initialIntervalMs: 500,
    maxIntervalMs: 60_000,
    factor: 2,
    maxAttempts: 70,
    onMaxAttempts: "pause",
  },
} as const;

function service(
  name: string,
  type: ServiceType,
  handlers: Record<string, Access>,
): ServiceSchema {
  return {
    name,
    type,
    deployment: "dp_1",
    revision: 1,
    public: true,
    options: {},
    handlers: Object.fromEntries(
      Object.entries(handlers).map(([name, access]) => [
        name,
        { name, access, public: true, options: {} },
      ]),
    ),
  };
}

/** One deployment: a plain service, an object and a workflow. `fragile` gives up after two. */
export const deployment: Deployment = {
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
  services: [
    service("greeter", "service", { hi: "none" }),
    service("counter", "virtual_object", { add: "exclusive", peek: "shared" }),
    service("flow", "workflow", { run: "run", ask: "shared" }),
    {
      ...service("fragile", "service", { kill: "none" }),
      options: { retry: { maxAttempts: 2, onMaxAttempts: "kill" } },
    },
    { ...service("brittle", "service", { pause: "none" }), options: { retry: { maxAttempts: 1 } } },
  ],
};

export const schema = new Schema([deployment], defaults);

/** `greeter/hi`, `counter/bob/add` or `blue:counter/bob/add`, in a scope, looked up in the schema above. */
export function targetOf(path: string): Target {
  const colon = path.indexOf(":");
  const scope = colon < 0 ? {} : { scope: path.slice(0, colon) };
  const parts = path.slice(colon + 1).split("/");
  const [service = "", key] = parts, handler = parts.at(-1) ?? "";
  const found = schema.latest(service);
  if (!found) throw new Error(`No service ${service}`);
  const access = found.handlers[handler]?.access;
  if (!access) throw new Error(`No handler ${path}`);
  const head = { service, handler, type: found.type, access, ...scope };
  return parts.length === 3 && key !== undefined ? { ...head, key } : head;
}
