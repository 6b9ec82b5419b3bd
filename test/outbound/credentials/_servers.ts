import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePorts } from "../../support/child.ts";
import { Server } from "../../support/server.ts";
import { WorkerdServer } from "../../workerd/_server.ts";

export type Runtime = "node" | "deno" | "workerd";

/** How one process is started. */
export interface Start {
  readonly settings?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Processes on one folder and two ports, started with other settings and variables. One runs at a time. */
export async function installation(runtime: Runtime, cleanups: (() => unknown)[]) {
  const [folder, ports] = [mkdtempSync(path.join(tmpdir(), "perdure-")), await freePorts(2)];
  return async (start: Start = {}): Promise<Server | WorkerdServer> => {
    const server = runtime === "workerd"
      ? new WorkerdServer(folder, ports, start)
      : new Server({ runtime, ...start }, ports, folder);
    cleanups.push(() => server.close());
    await server.start();
    return server;
  };
}
