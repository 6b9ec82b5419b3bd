import process from "node:process";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { register } from "../support/client.ts";
import { type Server, startServer } from "../support/server.ts";

/** A server with an endpoint, which a spec fills by calls of the real SDK. */
export interface Seeded {
  readonly server: Server;
  readonly endpoint: Endpoint;
  /** The URL of a page, such as `invocations?filter=…`. */
  at(page: string): string;
  close(): Promise<void>;
}

/** `TARGET=reference` runs the specs against the reference server, with our UI in front of it. */
export const isReference = process.env["TARGET"] === "reference";

export type Runtime = "node" | "deno" | "workerd";

/** A server has addresses and an end, which is all that specs need that run on more than Node. */
async function start(
  { runtime = "node", settings = {} }: Pick<SeedOptions, "runtime" | "settings">,
): Promise<Server> {
  if (isReference) {
    const { startReference } = await import("./_reference.ts");
    return await startReference() as unknown as Server;
  }
  if (runtime !== "workerd") return await startServer({ runtime, settings });
  const { asServer, startWorkerd } = await import("../workerd/_server.ts");
  return asServer(await startWorkerd({ settings }));
}

export interface SeedOptions {
  /** Whether the endpoint is registered. Default: yes. */
  readonly isRegistered?: boolean;
  /** What the endpoint runs. Default: `test/support/services.mjs`. */
  readonly script?: string;
  /** Of this project's server. Default: Node. */
  readonly runtime?: Runtime;
  /** Of this project's server, by environment name without prefix. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a server and an endpoint, and registers it. */
export async function seeded(
  { isRegistered = true, script, ...options }: SeedOptions = {},
): Promise<Seeded> {
  const [server, endpoint] = await Promise.all([start(options), startEndpoint("h2", script)]);
  if (isRegistered) await register(server, endpoint);
  return {
    server,
    endpoint,
    at: (page) => `${server.admin}/ui/${page}`,
    close: async () => {
      await Promise.all([server.close(), endpoint.close()]);
    },
  };
}
