import { startServer } from "../support/server.ts";
import { startWorkerd } from "../workerd/_server.ts";

/** A server of any runtime. `admin`: where its admin API asks for a token. */
export interface Started {
  readonly ingress: string;
  readonly admin: string;
  logs(): string;
  close(): unknown;
}

/** Starts a server with settings. Rejects when it does not become ready. */
export type Start = (settings: Readonly<Record<string, string>>) => Promise<Started>;

/** How each runtime is started. */
export const STARTS: Readonly<Record<"node" | "deno" | "workerd", Start>> = {
  node: (settings) => startServer({ runtime: "node", settings }),
  deno: (settings) => startServer({ runtime: "deno", settings }),
  workerd: async (settings) => {
    const server = await startWorkerd({ settings });
    // A program that binds its other entry as a service is trusted.
    const { ingress } = server;
    return {
      ...{ ingress, admin: `${ingress}/admin` },
      ...{ logs: () => server.logs(), close: () => server.close() },
    };
  },
};
