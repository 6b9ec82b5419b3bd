/** What has changed, as the server tells it. */
export interface Hint {
  /** Ids of invocations. */
  readonly inv?: readonly string[];
  /** Names of services: of their invocations, states or promises. */
  readonly svc?: readonly string[];
  /** Deployments, services, limits or subscriptions. */
  readonly config?: boolean;
  /** Anything may have changed. */
  readonly all?: boolean;
}

/** What something that is read is about: nothing else changes it. */
export type About =
  | { readonly invocations: readonly string[] }
  | { readonly service: string }
  | "configuration";

/** Whether what is about something may have changed. */
export function isAbout(hint: Hint, about: About): boolean {
  if (hint.all) return true;
  if (about === "configuration") return hint.config === true;
  if ("service" in about) return hint.svc?.includes(about.service) ?? false;
  // What it may run on is paused, or limited.
  return hint.config === true || about.invocations.some((id) => hint.inv?.includes(id));
}

/** Reads the data of an event. What is not understood may say anything. */
export function hintIn(event: string): Hint | undefined {
  const data = /^data: ?(.*)$/m.exec(event)?.[1];
  if (data === undefined) return undefined;
  try {
    const hint: unknown = JSON.parse(data);
    return typeof hint === "object" && hint !== null ? hint : { all: true };
  } catch {
    return { all: true };
  }
}
