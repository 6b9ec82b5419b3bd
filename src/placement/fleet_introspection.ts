import type { Introspection, RunningAttempt } from "../query_port.ts";

/**
 * Queries of a database that other members write, too. `flushOthers`: makes the other members fold their
 * commits, and resolves with the attempts that run there.
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
    prepare: () => introspection.prepare?.(),
    close: () => introspection.close(),
  };
}
