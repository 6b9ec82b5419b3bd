import { afterAll, afterEach, beforeAll, describe, test } from "vitest";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint, type Transport } from "../support/endpoint.ts";
import { type Column, columnOf } from "./_columns.ts";
import type { Gap } from "./_gaps.ts";
import { type Group, GROUPS } from "./_groups.ts";
import { Results } from "./_results.ts";
import type { Check, Subject, World } from "./_world.ts";

const START_MS = 60_000;
const TEST_MS = 30_000;

/**
 * Everything the server promises, checked against one column of the support table. What its gaps
 * name must fail as they say; what cannot be tried is shown as skipped. At the end the results are
 * compared with those of the table, or written for it when UPDATE_DOCS is set.
 */
export async function conformance(key: string): Promise<void> {
  const column = columnOf(key);
  const isAvailable = await column.isAvailable?.() ?? true;
  describe.skipIf(!isAvailable)(column.title, () => {
    const results = new Results(key);
    for (const [index, transport] of column.transports.entries()) {
      const all = GROUPS.filter(({ isOnce }) => index === 0 || !isOnce);
      const groups = all.filter(({ settings }) => !settings);
      describe(`endpoint over ${transport}`, () => keep(groups, { column, transport, results }));
    }
    const [transport = "h2"] = column.transports;
    for (const group of GROUPS) {
      const { name, settings } = group;
      if (!settings) continue;
      const trial = { column, transport, results, settings };
      describe(`with settings for ${name}`, () => keep([group], trial));
    }
    test("all of it is what the support table says", () => results.settle());
  });
}

interface Trial {
  readonly column: Column;
  readonly transport: Transport;
  readonly results: Results;
  /** Of the server, beside those of the column. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** One server for all of it, and one endpoint. */
function keep(groups: readonly Group[], { column, transport, results, settings }: Trial): void {
  let server: Subject, endpoint: Endpoint;
  let tests = 0;
  beforeAll(async () => {
    [server, endpoint] = await Promise.all([column.start(settings), startEndpoint(transport)]);
    const { status, body } = await register(server, endpoint);
    if (status !== 201) throw new Error(`Registration answered ${status}: ${JSON.stringify(body)}`);
  }, START_MS);
  afterAll(async () => {
    await Promise.all([server?.close(), endpoint?.close()]);
  });
  afterEach(({ task }) => {
    if (task.result?.state === "fail") tell(task.name, { server, endpoint });
  });
  const world = (): World => ({ server, endpoint, id: `${transport}-${++tests}` });
  const declare = (some: readonly Group[]) => {
    for (const { group, name, check } of some.flatMap(promisesOf)) {
      const gap = column.gaps.find(({ promises }) => promises.includes(name));
      const settled = results.plan(group, name, gap?.why);
      if (gap) lack(`${group}: ${name}`, gap, { check, world, settled });
      else test(`${group}: ${name}`, () => check(world()).then(settled), TEST_MS);
    }
  };
  const [together, alone] = [groups.filter((one) => !one.isAlone), groups.filter(isAlone)];
  if (together.length > 0) describe("at once", { concurrent: true }, () => declare(together));
  if (alone.length > 0) describe("by turns", () => declare(alone));
}

function isAlone({ isAlone }: Group): boolean {
  return isAlone === true;
}

function promisesOf({ name: group, promises }: Group) {
  return Object.entries(promises).map(([name, check]) => ({ group, name, check }));
}

interface Lacking {
  readonly check: Check;
  readonly world: () => World;
  readonly settled: () => void;
}

/** A gap must show itself as it says: a promise that is kept after all does not stay one. */
function lack(name: string, { why, shows }: Gap, { check, world, settled }: Lacking): void {
  if (!shows) settled();
  test.skipIf(!shows)(`${name} (not kept: ${why})`, async () => {
    const said = await check(world()).then(() => undefined, (cause: unknown) => String(cause));
    if (said === undefined) throw new Error("This is kept: remove its name from the gaps");
    if (!shows?.test(said)) throw new Error(`The gap shows itself in another way: ${said}`);
    settled();
  }, TEST_MS);
}

function tell(name: string, { server, endpoint }: Pick<World, "server" | "endpoint">): void {
  const log = server?.logs().split("\n").slice(-15).join("\n");
  console.error(
    `${name}: the server said\n${log}\nthe endpoint said\n${endpoint?.logs().slice(-1000)}`,
  );
}
