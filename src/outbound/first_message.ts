import type { OutboundDeps, OutboundOptions } from "./options.ts";
import type { RunningAttempt } from "./attempt.ts";
import { shownUri } from "./shown_uri.ts";

/** The least time between two warnings about one deployment. */
const WARN_MS = 60_000;
/**
 * The number of deployments that are remembered. Beyond it all are forgotten, so that one may be
 * warned about again.
 */
const DEPLOYMENTS_MAX = 10_000;

/** The parts of an attempt that are checked. */
export type Watched = Pick<RunningAttempt, "id" | "plan" | "inactivity" | "site" | "target">;

/**
 * Warns of deployments that accept attempts and never send a message: most likely their runtime is
 * too old for their SDK, which then fails before it runs the handler and says so only in its own
 * log. Inactivity alone proves nothing, since a handler may wait before its first command. So a
 * deployment that has sent a single message to this partition is never warned about again, and one
 * in request-response mode not at all: functions answer when they are done.
 */
export class FirstMessages {
  readonly #log: OutboundDeps["log"];
  readonly #silentMsMax: number;
  /**
   * By deployment: when to warn next, in milliseconds since the epoch; Infinity once it has sent a
   * message.
   */
  readonly #warnAt = new Map<string, number>();

  constructor(
    { log }: Pick<OutboundDeps, "log">,
    options: Pick<OutboundOptions, "firstMessageMs">,
  ) {
    this.#log = log;
    this.#silentMsMax = options.firstMessageMs;
  }

  /** When to check an attempt for its first message, in milliseconds since the epoch. */
  dueOf({ plan, inactivity, site }: Watched): number {
    if (plan.requestResponse) return Infinity;
    const { deployment } = plan.pin;
    if (inactivity.hasReceived) this.answered(deployment);
    return Math.max(site.startedAt + this.#silentMsMax, this.#warnAt.get(deployment) ?? 0);
  }

  /** Records that a deployment has sent a message, or has ended an attempt as the protocol says. */
  answered(deployment: string): void {
    if (this.#warnAt.size >= DEPLOYMENTS_MAX) this.#warnAt.clear();
    this.#warnAt.set(deployment, Infinity);
  }

  /**
   * Warns of deployments that are overdue at `now`. Returns when to check again; Infinity: when
   * another attempt begins.
   */
  check(now: number, running: Iterable<Watched>): number {
    let due = Infinity;
    for (const attempt of running) {
      if (this.dueOf(attempt) <= now) this.#warn(now, attempt);
      due = Math.min(due, this.dueOf(attempt));
    }
    return due;
  }

  #warn(now: number, { id, plan: { deployment }, site, target }: Watched): void {
    this.#warnAt.set(deployment.id, now + WARN_MS);
    this.#log("warn", "An endpoint has not sent a message yet", {
      deployment: deployment.id,
      uri: shownUri(deployment.uri),
      service: target.service,
      handler: target.handler,
      invocation: id,
      silentMs: now - site.startedAt,
      advice:
        "Read the endpoint's log. On a Node older than 22 the SDK registers, and then every " +
        "call hangs: use Node 24. Ignore this if the handler waits this long before its first step.",
    });
  }
}
