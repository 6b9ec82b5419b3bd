/** What an invocation waits for, as the member `for` of the JSON of `waiting_on` says it. */
export type WaitsFor =
  /** The time of a delayed start. */
  | "start"
  /** The lock of its object. */
  | "lock"
  /** A slot of a limit, or a token of a rate. */
  | "slot"
  | "token"
  /** Something paused: a service, a deployment, a virtual queue. */
  | "resume"
  /** Its turn in the queue of a limit that has room. */
  | "turn"
  /** A slot of the invoker. */
  | "attempt"
  /** The next attempt after a failed one. */
  | "retry"
  /** Notifications: it is suspended. */
  | "notification"
  /** An operator: it is paused. */
  | "operator"
  /** A sidecar, to write its record to the dead letter topic (decision 053). */
  | "letter";

/** A notification that a suspended invocation waits for, as the member `kind` says it. */
export type Awaited = "sleep" | "promise" | "call" | "awakeable" | "signal" | "completion";

/** A JSON object of these facts. Values are SQL; a fact that is null is left out. */
export function facts(waitsFor: WaitsFor, values: Readonly<Record<string, string>>): string {
  return `json_patch('{"for":"${waitsFor}"}', ${object(values)})`;
}

/** A JSON object whose values are SQL, also with those that are null. */
export function object(values: Readonly<Record<string, string>>): string {
  return `json_object(${Object.entries(values).map(([name, sql]) => `'${name}', ${sql}`).join()})`;
}

/** A time as people and programs read it. `ms`: SQL, milliseconds since the epoch, or null. */
export function isoTime(ms: string): string {
  return `strftime('%Y-%m-%dT%H:%M:%fZ', (${ms}) / 1000.0, 'unixepoch')`;
}

/** A value in the body of the stored invocation `t`. */
export function inBody(path: string): string {
  return `(t.body ->> '$.${path}')`;
}
