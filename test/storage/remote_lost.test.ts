import { describe, expect, test } from "vitest";
import type { Write } from "../../src/model/rows.ts";
import { type Clock, Fenced, type SqlClient, type Statement } from "../../src/ports.ts";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { type Database, own, storeContract } from "./_contract.ts";
import { memoryDatabase, sqlDatabase, TINY } from "./_database.ts";
import { chance, type Fault, lossy, Lost } from "./_lossy.ts";

const FAULTS: readonly Fault[] = ["lost", "unheard", "late", "twice", "echo"];
let seeds = 0;

describe.each(
  [["sometimes", 0.1], ["all the time", 0.5]] as const,
)("a database whose requests are lost, doubled and late %s", (_, share) => {
  describe("is a store", () => storeContract(() => memoryDatabase(TINY, bad(share)), 60));
});

/** Faults at random, but none by which a claim could raise the epoch twice: that is counted. */
function bad(share: number): (client: SqlClient) => SqlClient {
  return (client) => {
    const next = chance(++seeds);
    const fault = (_: string, statements: readonly Statement[]): Fault | undefined => {
      const found = next() < share ? FAULTS[Math.floor(next() * FAULTS.length)] : undefined;
      return isClaim(statements) && found !== "echo" ? undefined : found;
    };
    return lossy(client, { fault, delay: () => 1 + Math.floor(next() ** 2 * 20) });
  };
}

function isClaim([first]: readonly Statement[]): boolean {
  return first !== undefined && /insert into lease/.test(first.sql);
}

const isLogged = (statements: readonly Statement[]) =>
  statements.some(({ sql }) => /insert into log/.test(sql));

function state(name: string, byte: number): Write {
  return { table: "state", row: { object: "o", name, value: Uint8Array.of(byte) }, drop: false };
}

/** A database whose commits meet `faults`, one after the other. */
async function troubled(
  faults: Fault[],
  { delay = 1, onFault = () => Promise.resolve() }: {
    readonly delay?: number;
    /** Called after a commit met a fault. */
    readonly onFault?: () => Promise<unknown>;
  } = {},
): Promise<{ database: Database; sound: Database; commits: () => number }> {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  let commits = 0;
  const network = lossy(client, {
    fault: (_, statements) => isLogged(statements) ? (commits++, faults.shift()) : undefined,
    delay: () => delay,
  });
  const interrupted: SqlClient = {
    ...network,
    batch: (mode, statements) =>
      network.batch(mode, statements).catch(async (cause) => {
        if (cause instanceof Lost) await onFault();
        throw cause;
      }),
  };
  return {
    database: sqlDatabase(interrupted, {}),
    sound: sqlDatabase(client, {}),
    commits: () => commits,
  };
}

test.each([["unheard", "lost"], ["lost", "unheard"], ["late", "late"], ["unheard", "unheard"]])(
  "a commit that is %s, then %s, happens once",
  async (...faults) => {
    const { database, sound, commits } = await troubled(faults as Fault[]);
    const { store, lease } = await own(database);
    await store.commit(lease, [state("a", 1), state("b", 1)]);
    expect(commits()).toBeGreaterThan(1);
    await store.commit(lease, [state("a", 2)]);
    expect(await states(sound)).toEqual([["a", 2], ["b", 1]]);
    await database.close();
  },
);

test.each(["unheard", "late", "lost"] as const)(
  "an owner whose commit was %s while another one claimed is fenced",
  async (fault) => {
    let rival: Promise<unknown> | undefined;
    const { database, sound } = await troubled([fault], {
      onFault: () => rival ??= own(sound),
    });
    const { store, lease } = await own(database);
    await expect(store.commit(lease, [state("a", 1)])).rejects.toBeInstanceOf(Fenced);
    await expect(store.commit(lease, [state("b", 1)])).rejects.toBeInstanceOf(Fenced);
    // The next owner knows how it went, and knows it for good.
    expect(await states(sound)).toEqual(fault === "unheard" ? [["a", 1]] : []);
    await database.close();
  },
);

test("a duplicate of a commit that was folded long ago changes nothing", async () => {
  const { database, sound } = await troubled(["echo"], { delay: 20 });
  const { store, lease } = await own(database);
  await store.commit(lease, [state("a", 1)]);
  await database.flush?.(store, lease);
  for (let value = 2; value < 9; value++) await store.commit(lease, [state("a", value)]);
  await database.flush?.(store, lease);
  for (let i = 0; i < 20; i++) await store.load(lease, [{ table: "state", group: "other" }]);
  expect(await states(sound)).toEqual([["a", 8]]);
  await database.close();
});

test("a claim whose response is lost is retried, and its duplicates change nothing", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const faults: (Fault | undefined)[] = ["unheard", "late", "echo"];
  const network = lossy(client, {
    fault: (_, statements) => isClaim(statements) ? faults.shift() : undefined,
    delay: () => 3,
  });
  const { store, lease } = await own(sqlDatabase(network, {}));
  expect(lease.epoch).toBe(2);
  for (let value = 0; value < 9; value++) await store.commit(lease, [state("a", value)]);
  await client.close();
});

test("an unreachable database fails a commit after a while, and the next claim decides it", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  let now = 0;
  const clock: Clock = {
    now: () => now,
    at: (due, call) => {
      setImmediate(() => (now = Math.max(now, due), call()));
      return () => {};
    },
    soon: (call) => void setImmediate(call),
  };
  let isAway = false;
  const network = lossy(client, { fault: () => isAway ? "lost" : undefined, delay: () => 1 });
  const database = sqlDatabase(network, { clock, retryMs: 5_000 });
  const { store, lease } = await own(database);
  await store.commit(lease, [state("a", 1)]);
  isAway = true;
  await expect(store.commit(lease, [state("a", 2)])).rejects.toBeInstanceOf(Lost);
  expect(now).toBeGreaterThanOrEqual(5_000);
  await expect(store.load(lease, [])).rejects.toBeInstanceOf(Lost);
  await expect(store.claim(3)).rejects.toBeInstanceOf(Lost);
  isAway = false;
  expect(await states(database)).toEqual([["a", 1]]);
  await client.close();
});

async function states(database: Database): Promise<unknown[]> {
  const { store, lease } = await own(database);
  const [found] = await store.load(lease, [{ table: "state", group: "o" }]);
  return (found?.rows ?? []).map((row) => "value" in row ? [row["name"], row.value?.[0]] : row);
}
