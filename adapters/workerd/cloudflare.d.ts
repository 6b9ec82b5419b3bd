/** The used part of workerd. Its own package of types would apply to every file. */
declare module "cloudflare:workers" {
  export class DurableObject<Env> {
    constructor(ctx: DurableObjectState, env: Env);
    protected readonly ctx: DurableObjectState;
    protected readonly env: Env;
    alarm?(): Promise<void>;
  }
  export class WorkerEntrypoint<Env> {
    protected readonly env: Env;
    fetch?(request: Request): Promise<Response>;
  }
}

declare module "cloudflare:sockets" {
  export const connect: import("./socket_stream.ts").Connect;
}

interface DurableObjectState {
  readonly id: DurableObjectId;
  readonly storage:
    & import("./durable_sqlite.ts").DurableStorage
    & import("./introspection.ts").QueryStorage
    & import("./alarm.ts").AlarmStorage;
  /** Ends the object, and every request in it. */
  abort(reason: string): void;
}

interface DurableObjectId {
  readonly name?: string;
  toString(): string;
}

interface DurableObjectNamespace<T> {
  idFromName(name: string): DurableObjectId;
  get(id: DurableObjectId): DurableObjectStub<T>;
}

/** Calls an object's methods from elsewhere. */
type DurableObjectStub<T> = Pick<
  T,
  Extract<
    keyof T,
    | "ingress"
    | "admin"
    | "fetch"
    | "deployments"
    | "reload"
    | "readSessionKeys"
    | "replaceSessionKeys"
  >
>;
