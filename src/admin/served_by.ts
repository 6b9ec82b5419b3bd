import type { Deployment, Schema } from "../model/schema.ts";

/** The services that take new invocations on this deployment. */
export function servedBy({ id, services }: Deployment, schema: Schema): string[] {
  return services.map(({ name }) => name).filter((name) => schema.latest(name)?.deployment === id);
}
