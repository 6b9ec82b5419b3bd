import { rmSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach } from "vitest";
import type { Server } from "../support/server.ts";
import { close, contents } from "./_installations.ts";
import { databasesIn, newRoot, serverOn } from "./_tool.ts";

/** A folder for the tests of a file, and the servers they start in it: stopped after each test. */
export class Servers {
  readonly root = newRoot();
  readonly #running: Server[] = [];

  constructor() {
    afterEach(async ({ task }) => {
      if (task.result?.state === "fail") {
        for (const server of this.#running) console.error(server.logs().slice(-2000));
      }
      await Promise.all(this.#running.splice(0).map((server) => server.stop()));
    });
    afterAll(() => rmSync(this.root, { recursive: true, force: true }));
  }

  /** The path of a name in the folder. */
  readonly at = (name: string): string => path.join(this.root, name);

  readonly start = async (
    folder: string,
    settings: Record<string, string> = {},
  ): Promise<Server> => {
    const server = await serverOn(folder, settings);
    this.#running.push(server);
    await server.start();
    return server;
  };
}

/** Every row of a data folder that no process has, by table. */
export async function rowsOf(folder: string): Promise<Record<string, string[]>> {
  const installation = await databasesIn(folder);
  const rows = await contents(installation);
  await close(installation);
  return rows;
}
