import { expect } from "vitest";
import { Child, freePorts, until } from "../support/child.ts";
import { type Address, query, register, value } from "../support/client.ts";
import type { Endpoint } from "../support/endpoint.ts";

export const START_MS = 30_000;

export interface Serving {
  /** Where the command runs, and its data lies. */
  readonly folder: string;
  /** All that the command gets: neither settings nor a loader of the tests. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly endpoint: Endpoint;
}

/** Starts `perdure serve` by these words. Resolves when it is healthy. `name`: of its data. */
export async function start(
  command: readonly [string, ...string[]],
  { folder, env }: Omit<Serving, "endpoint">,
  name: string,
): Promise<{ readonly child: Child; readonly server: Address }> {
  const [ingress, admin] = await freePorts(2);
  const server = { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` };
  const settings = ["--ingress.bind-port", `${ingress}`, "--admin.bind-port", `${admin}`];
  const variables = Object.entries(env).map(([key, text]) => `${key}=${text}`);
  const words = [...command, "serve", "--base-dir", `${folder}/data-${name}`, ...settings];
  const all = ["env", "-i", `--chdir=${folder}`, ...variables, ...words] as const;
  const child = new Child(all as unknown as [string], {}, { isGroup: true });
  const isHealthy = async () => {
    if (!child.isAlive()) throw new Error(`It ended: ${child.output()}`);
    return await fetch(`${server.admin}/health`).then(({ ok }) => ok, () => false);
  };
  try {
    await until("the server to be healthy", isHealthy, START_MS);
  } catch (cause) {
    await child.stop();
    throw cause;
  }
  return { child, server };
}

/** Calls a handler of the real SDK through the server, asks the process of queries and opens the UI. */
export async function isWhole(server: Address, endpoint: Endpoint): Promise<void> {
  expect(await register(server, endpoint)).toMatchObject({ status: 201 });
  expect(await value(server, "Greeter/greet", "Ada")).toBe("Hello Ada");
  expect(await query(server, "select 1 as one")).toEqual([{ one: 1 }]);
  expect(await fetch(`${server.admin}/ui/`).then((page) => page.text())).toContain("<html");
}
