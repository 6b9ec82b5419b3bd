import type { Introspection, RunningAttempt } from "../query_port.ts";

/**
 * Queries of a database that other processes write, too. `flushOthers`: has the others bring what
 * they committed into the tables, and answers which attempts run there.
 */
export function fleetIntrospection(
  introspection: Introspection,
  flushOthers: () => Promise<readonly RunningAttempt[]>,
): Introspection {
  return {
    async query(query) {
      const elsewhere = await flushOthers();
      return await introspection.query({ ...query, running: [...query.running, ...elsewhere] });
    },
    close: () => introspection.close(),
  };
}
