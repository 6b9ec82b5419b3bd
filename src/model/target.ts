/** The three kinds of user service, spelled as in the database and the manifest's lower case. */
export type ServiceType = "service" | "virtual_object" | "workflow";

/**
 * How a handler shares its key. `none`: a plain service, no key. `exclusive`: one at a time per
 * key. `shared`: any number, next to an exclusive one. `run`: a workflow's one run per key.
 */
export type Access = "none" | "exclusive" | "shared" | "run";

/** The handler and key of an invocation: resolved once, when it is accepted. */
export interface Target {
  readonly service: string;
  readonly handler: string;
  /** Object key or workflow id. Absent for plain services; may be the empty string otherwise. */
  readonly key?: string;
  readonly type: ServiceType;
  readonly access: Access;
}

/**
 * Names the object that a keyed target belongs to: the group of its lock, inbox and state rows.
 * Service names hold no slash, so the first one ends the service name.
 */
export function objectOf(service: string, key: string): string {
  return `${service}/${key}`;
}

/** `Svc/handler` or `Object/key/handler`, for display. */
export function printTarget({ service, key, handler }: Target): string {
  return key === undefined ? `${service}/${handler}` : `${service}/${key}/${handler}`;
}
