/** What an identity may do with the admin API: each level includes those below it. */
export const LEVELS = ["none", "viewer", "operator", "admin"] as const;
export type Level = typeof LEVELS[number];

/** Names that end with `*` stand for all that begin like them. */
export interface HandlerPattern {
  /** Undefined: in any scope of flow control, and in none. */
  readonly scope: string | undefined;
  readonly service: string;
  readonly handler: string;
}

/** What a client is allowed to do. */
export interface Grants {
  readonly level: Level;
  /** The handlers that may be called. */
  readonly handlers: readonly HandlerPattern[];
}

/** A client whose token is known. */
export interface Identity extends Grants {
  /** For logs and refusals: of the token, or the subject of a JWT. */
  readonly name: string;
}

/** A handler, and the scope in which it is called. */
export interface Called {
  readonly scope?: string | undefined;
  readonly service: string;
  /** Undefined: all of them are meant. */
  readonly handler?: string | undefined;
}

const ALL: HandlerPattern = { scope: undefined, service: "*", handler: "*" };

export const ADMIN: Grants = { level: "admin", handlers: [ALL] };
export const CALLER: Grants = { level: "none", handlers: [ALL] };

/** A role that does not exist, or a pattern that cannot be read. */
export class BadRole extends Error {
  override name = "BadRole";
}

const EXPECTED = "admin, operator, viewer, invoke, or invoke: with a pattern such as Greeter/*";

/**
 * The grants of roles: `admin`, `operator`, `viewer`, `invoke`, and `invoke:` with a pattern of
 * handlers, such as `Greeter/greet`, `Order/*`, `scope/tenant-a/Order/*` (docs/security.md#roles).
 * Throws `BadRole`.
 */
export function grantsOf(roles: readonly string[]): Grants {
  let level: Level = "none";
  const handlers: HandlerPattern[] = [];
  for (const role of roles) {
    if (role === "invoke") handlers.push(ALL);
    else if (role.startsWith("invoke:")) handlers.push(patternOf(role));
    else level = higher(level, levelOf(role));
  }
  // An operator restarts invocations, which calls handlers.
  if (isAtLeast(level, "operator")) handlers.push(ALL);
  return { level, handlers };
}

/** Whether a level includes another one. */
export function isAtLeast(level: Level, wanted: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);
}

/** Whether a handler may be called. Without one: whether all handlers of its service may be. */
export function mayCall({ handlers }: Grants, { scope, service, handler }: Called): boolean {
  return handlers.some((pattern) =>
    (pattern.scope === undefined || scope !== undefined && fits(pattern.scope, scope)) &&
    fits(pattern.service, service) &&
    (handler === undefined ? pattern.handler === "*" : fits(pattern.handler, handler))
  );
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function levelOf(role: string): Level {
  const level = LEVELS.find((one) => one === role);
  if (level === undefined || level === "none") {
    throw new BadRole(`there is no role ${JSON.stringify(role)}: ${EXPECTED}`);
  }
  return level;
}

function higher(a: Level, b: Level): Level {
  return isAtLeast(a, b) ? a : b;
}

/** A name, with at most one `*`, at its end. Names of handlers and scopes have no slash. */
const NAME = /^(?:[^*/\s]+\*?|\*)$/;

function patternOf(role: string): HandlerPattern {
  const parts = role.slice("invoke:".length).split("/");
  const scope = parts.length === 4 && parts[0] === "scope" ? parts[1] : undefined;
  const [service = "", handler = ""] = scope === undefined ? parts : parts.slice(2);
  const isRead = parts.length === 2 || scope !== undefined;
  const names = scope === undefined ? [service, handler] : [scope, service, handler];
  if (!isRead || !names.every((name) => NAME.test(name))) {
    throw new BadRole(
      `cannot read the role ${JSON.stringify(role)}: a pattern is Service/handler or ` +
        "scope/name/Service/handler, with * at the end of a name",
    );
  }
  return { scope, service, handler };
}
