import type { SqlClient, SqlRow, Statement } from "../../src/ports.ts";

/**
 * What a network does to a request. `lost`: it never arrives. `unheard`: it is applied, its answer
 * is lost. `pending`: it has no response, and is applied some requests later. `twice`: applied, and
 * a copy right behind it. `echo`: applied, and a copy arrives some requests later.
 */
export type Fault = "lost" | "unheard" | "late" | "twice" | "echo";

export class Lost extends Error {
  override name = "Lost";
}

export interface Lossy {
  /** The fault of the next request; undefined: none. */
  readonly fault: (mode: "read" | "write", statements: readonly Statement[]) => Fault | undefined;
  /** How many requests later a copy arrives. */
  readonly delay: () => number;
}

/** A database behind a bad network. */
export function lossy(client: SqlClient, { fault, delay }: Lossy): SqlClient {
  let stray: { statements: readonly Statement[]; after: number }[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const arrive = async (): Promise<void> => {
    const due = stray.filter((one) => --one.after <= 0);
    stray = stray.filter((one) => one.after > 0);
    for (const { statements } of due) await client.batch("write", statements).catch(() => {});
  };
  const carry = async (
    mode: "read" | "write",
    statements: readonly Statement[],
  ): Promise<readonly SqlRow[][]> => {
    await arrive();
    const what = fault(mode, statements);
    if ((what === "late" || what === "echo") && mode === "write") {
      stray.push({ statements, after: delay() });
    }
    if (what === "lost" || what === "late") throw new Lost("the request was lost");
    const rows = await client.batch(mode, statements);
    if (what === "twice") await client.batch(mode, statements).catch(() => {});
    if (what === "unheard") throw new Lost("the answer was lost");
    return rows;
  };
  return {
    batch(mode, statements) {
      if (mode === "read") return carry(mode, statements);
      const done = last.then(() => carry(mode, statements));
      last = done.catch(() => {});
      return done;
    },
    isRefused: (cause) => client.isRefused(cause),
    isLost: (cause) => cause instanceof Lost,
    close: () => client.close(),
  };
}

/** Numbers from 0 to 1, the same ones for the same seed. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = state + 0x6d2b79f5 >>> 0;
    let bits = Math.imul(state ^ state >>> 15, state | 1);
    bits ^= bits + Math.imul(bits ^ bits >>> 7, bits | 61);
    return ((bits ^ bits >>> 14) >>> 0) / 2 ** 32;
  };
}
