/** Types of `perdure/workerd`. They name nothing of the platform, whose types are those of the Worker. */

/** Settings are variables of the names of docs/settings.md; PARTITION is the Durable Object. */
export interface Bindings {
  readonly PARTITION: unknown;
  readonly [variable: string]: unknown;
}

/** The Worker: both APIs on one address, the admin API below `/admin`. */
declare const worker: {
  fetch(request: Request, env: Bindings): Response | Promise<Response>;
};
export default worker;

/** The Durable Object of a partition, to be bound as PARTITION with SQLite storage. */
export class PartitionObject {
  constructor(state: unknown, env: Bindings);
}

/** The admin API alone, for Workers that bind it as a service. */
export class Admin {
  constructor(context: unknown, env: Bindings);
  fetch(request: Request): Promise<Response>;
}
