import { describe } from "vitest";
import type { SqlClient } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { storeContract } from "./_contract.ts";
import { memoryDatabase, TINY } from "./_database.ts";

describe("memory", () =>
  storeContract(() => {
    const store = new MemoryStore();
    return Promise.resolve({ open: () => Promise.resolve(store), close: () => store.close() });
  }));

describe("sql", () => storeContract(() => memoryDatabase()));

describe("sql, folding all the time", () => storeContract(() => memoryDatabase(TINY), 80));

describe("sql, one fold for a few commits", () =>
  storeContract(() => memoryDatabase({ foldRowsMax: 12, sliceRowsMax: 3 }), 80));

describe("sql, over a network", () => storeContract(() => memoryDatabase(TINY, slow), 40));

describe("sql, over a network, folds beside commits", () =>
  storeContract(() => memoryDatabase({ ...TINY, overlaps: true }, slow), 40));

/** Reads and writes overtake each other, as requests to a server may. */
function slow(client: SqlClient): SqlClient {
  let turn = 0;
  return {
    async batch(mode, statements) {
      const pauses = ++turn % 4;
      for (let i = 0; i < pauses; i++) await new Promise((resolve) => setImmediate(resolve));
      const rows = await client.batch(mode, statements);
      for (let i = 0; i < 3 - pauses; i++) await new Promise((resolve) => setImmediate(resolve));
      return rows;
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  };
}
