import path from "node:path";
import { freePorts } from "../support/child.ts";
import { register } from "../support/client.ts";
import { Endpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";

const SCRIPT = path.join(import.meta.dirname, "_tree.mjs");

/** A server of several partitions with the endpoint of `_tree.mjs`. */
export interface TreeWorld {
  readonly server: Server;
  readonly endpoint: Endpoint;
  at(page: string): string;
  close(): Promise<void>;
}

/** Starts both, and registers the endpoint. */
export async function startTree(): Promise<TreeWorld> {
  const [port = 0] = await freePorts(1);
  const endpoint = new Endpoint("h2", port, SCRIPT);
  const settings = { DEFAULT_NUM_PARTITIONS: "4" };
  const [server] = await Promise.all([
    startServer({ runtime: "node", settings }),
    endpoint.start(),
  ]);
  await register(server, endpoint);
  return {
    server,
    endpoint,
    at: (page) => `${server.admin}/ui/${page}`,
    close: async () => {
      await Promise.all([server.close(), endpoint.close()]);
    },
  };
}
