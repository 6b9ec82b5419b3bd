import { assert } from "../assert.ts";

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
  /** The scope in which it was called: objects and workflows of two scopes are different ones. */
  readonly scope?: string;
  readonly type: ServiceType;
  readonly access: Access;
}

/** The name of one object or workflow. */
export interface ObjectName {
  readonly service: string;
  readonly key: string;
  readonly scope?: string;
}

/**
 * Names the object that a keyed target belongs to: the group of its lock, inbox and state rows.
 * Service names hold no slash, so the first one ends the service name. A scope stands before it and
 * ends with a colon, which is neither in scopes nor in service names.
 */
export function objectOf(service: string, key: string, scope?: string): string {
  return scope === undefined ? `${service}/${key}` : `${scope}:${service}/${key}`;
}

/** The reverse of `objectOf`. Throws a `Bug` for what it has not made. */
export function parseObject(object: string): ObjectName {
  const slash = object.indexOf("/");
  assert(slash >= 0, "An object is named by its service and its key");
  const [service, key] = [object.slice(0, slash), object.slice(slash + 1)];
  const colon = service.indexOf(":");
  if (colon < 0) return { service, key };
  return { service: service.slice(colon + 1), key, scope: service.slice(0, colon) };
}

/** `Svc/handler` or `Object/key/handler`, for display. */
export function printTarget({ service, key, handler }: Target): string {
  return key === undefined ? `${service}/${handler}` : `${service}/${key}/${handler}`;
}
