import type { Attempt } from "../engine/effect.ts";
import type { Outcome } from "../engine/event.ts";
import type { AttemptSite } from "../model/invocation.ts";
import type { Entry } from "../model/journal.ts";
import type { Target } from "../model/target.ts";
import { header } from "../names.ts";
import type { AttemptSpan } from "../observe/tracer.ts";
import type { DialFailure, DialHead, DialListener, Exchange } from "../dial.ts";
import { Acks } from "./acks.ts";
import type { Plan } from "./choose.ts";
import type { SlotHolder } from "./slot_pressure.ts";
import { abortTimedOut, endedEarly, networkFailed } from "./failed.ts";
import { RequestHalf } from "./request_half.ts";
import { refusal } from "./response.ts";
import { type Receiver, ResponseHalf, type ResponseHost } from "./response_half.ts";
import { Inactivity } from "./inactivity.ts";
import { startOf } from "./start.ts";

/** What an attempt needs of its owner, `Attempts`. */
export interface AttemptHost extends ResponseHost {
  /** A deadline was set, in milliseconds since the epoch. */
  expect(due: number): void;
  /** The outcome was sent. After `End` the stream may still be open. */
  ended(attempt: RunningAttempt, outcome: Outcome): void;
  /** The stream is closed. */
  closed(attempt: RunningAttempt): void;
}

/**
 * One attempt: one stream to one endpoint (docs/spec/service-protocol.md#start-of-an-attempt). `running` until its outcome is
 * known, then `draining` until the response ends or time is up, then `closed`. An outcome after which
 * the invocation may begin another attempt is sent only when the stream is closed: until then the
 * handler may still run, and two attempts of one invocation must not overlap (decision 041).
 */
export class RunningAttempt implements DialListener, SlotHolder, Receiver {
  readonly id: string;
  readonly attempt: number;
  /** The number of this attempt among all attempts since the partition's life began. */
  readonly number: number;
  readonly plan: Plan;
  readonly target: Target;
  readonly span: AttemptSpan | undefined;
  /** Replaced once the endpoint has sent the name and version of its SDK. */
  site: AttemptSite;
  readonly inactivity: Inactivity;
  readonly #host: AttemptHost;
  readonly #mediaType: string;
  readonly #acks: Acks;
  readonly #response: ResponseHalf;
  /** How the stream ended, kept while received bytes still wait to be decoded. */
  #atEnd: (() => void) | undefined;
  #exchange: Exchange | undefined;
  #request: RequestHalf | undefined;
  #phase: "running" | "draining" | "closed" = "running";
  #outcome: Outcome | undefined;
  #isSent = false;
  /** Whether its request is held back. */
  #isHeld = false;

  constructor(
    host: AttemptHost,
    effect: Attempt,
    { number, plan, mediaType, span, waitedMs }: {
      readonly number: number;
      readonly plan: Plan;
      readonly mediaType: string;
      readonly span?: AttemptSpan | undefined;
      /** As in `AttemptSite`. */
      readonly waitedMs?: number | undefined;
    },
  ) {
    this.#host = host;
    this.id = effect.invocation.id;
    this.attempt = effect.attempt;
    this.number = number;
    this.plan = plan;
    this.target = effect.invocation.target;
    this.span = span;
    this.#mediaType = mediaType;
    this.#acks = new Acks(effect.invocation.commands);
    this.#response = new ResponseHalf(this, host, this.#acks);
    this.inactivity = new Inactivity(host.deps.clock, effect.entries);
    const { activeAt: startedAt } = this.inactivity;
    const { pin: { deployment } } = plan;
    this.site = waitedMs === undefined
      ? { startedAt, deployment }
      : { startedAt, deployment, waitedMs };
  }

  /**
   * Writes `Start` and the replay at once: some endpoints answer only when they have read it. `isHeld`:
   * but for its last byte, which is written by `proceed`.
   */
  begin(exchange: Exchange, effect: Attempt, { isHeld }: { readonly isHeld: boolean }): void {
    this.#isHeld = isHeld;
    this.#exchange = exchange;
    this.#request = new RequestHalf(exchange, this.#host.options.unreadBytesMax);
    const { site: { startedAt: now }, plan: { pin: { protocol } } } = this;
    this.#request.begin(startOf(effect, { now, protocol }), effect.entries, { isHeld });
    if (this.plan.requestResponse) this.#request.end();
    if (isHeld) exchange.flush?.();
    this.#host.expect(this.due);
  }

  /** Writes the rest of the replay: that the attempt was started is durable now. */
  proceed(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    if (this.#phase !== "running") return;
    this.inactivity.touch();
    this.#request?.proceed();
    this.#exchange?.flush?.();
    this.#host.expect(this.due);
  }

  /** Writes a notification that was stored while this attempt runs. */
  notify(index: number, entry: Entry): void {
    if (this.#phase !== "running") return;
    if (this.#request?.notify(index, entry, this.#acks.of(entry))) this.inactivity.touch();
  }

  /** Ends the input: the SDK suspends when it has nothing left to do. */
  yield(): void {
    if (this.#phase !== "running" || !this.#isOpen) return;
    this.inactivity.touch();
    this.#request?.end();
    this.#host.expect(this.due);
  }

  /** As `yield`, because other attempts wait for the slot. A silent step keeps its full timeout. */
  makeRoom(now: number): void {
    if (!this.canSuspend) return;
    this.inactivity.askedAt = now;
    this.#request?.end();
    this.#host.expect(this.due);
  }

  get canSuspend(): boolean {
    return this.#phase === "running" && this.#isOpen && !this.#isHeld &&
      this.inactivity.isUnexplained;
  }

  /** Resets the stream. No event follows. */
  abort(): void {
    this.#close();
    this.#exchange?.abort();
  }

  head(head: DialHead): void {
    if (this.#phase !== "running") return;
    this.inactivity.answered();
    const server = head.header(header(this.plan.deployment.dialect, "server"));
    if (server !== undefined) this.site = { ...this.site, server };
    const { protocol } = this.plan.pin;
    const refused = refusal(head, {
      mediaType: this.#mediaType,
      protocol,
      now: this.inactivity.activeAt,
    });
    if (refused) this.#finish(refused);
  }

  chunk(bytes: Uint8Array): void {
    if (this.#phase !== "running") return;
    this.inactivity.received();
    this.#read(bytes);
  }

  end(): void {
    if (this.#mustWait(() => this.end())) return;
    if (this.#phase === "running") this.#finish(endedEarly);
    // An endpoint that has answered without reading would keep its half of the stream open forever.
    if (this.#request?.blocked) this.#exchange?.abort();
    this.#sendOutcome();
    this.#close();
  }

  failed(failure: DialFailure): void {
    if (this.#mustWait(() => this.failed(failure))) return;
    if (this.#phase === "running") this.#finish(networkFailed(this.plan.deployment.uri, failure));
    this.#sendOutcome();
    this.#close();
  }

  drain(): void {
    if (this.#phase !== "running") return;
    this.inactivity.touch();
    this.#request?.drain();
  }

  /**
   * When to check this attempt again, in milliseconds since the epoch
   * (docs/spec/service-protocol.md#timers-of-an-attempt).
   */
  get due(): number {
    if (this.#phase === "draining") return this.inactivity.activeAt + this.#host.options.drainMs;
    if (this.#phase === "closed" || this.#isHeld || this.#response.isPaused) return Infinity;
    return this.inactivity.dueOf(this.plan, this.#isOpen);
  }

  /** Whether notifications may still be written. */
  get #isOpen(): boolean {
    return this.#request?.open === true;
  }

  /** Handles the deadline `due`, which has passed at `now`. */
  expire(now: number): void {
    if (this.#phase === "draining") return this.#reset();
    this.inactivity.activeAt = now;
    // The SDK then suspends when it has nothing left to do.
    if (this.#isOpen) this.#request?.end();
    else this.#finish(abortTimedOut(this.plan.abortTimeoutMs));
  }

  /** The end of a stream is handled after its frames, which may wait for room in the window. */
  #mustWait(end: () => void): boolean {
    const mustWait = this.#phase === "running" && this.#response.isBuffering;
    if (mustWait) this.#atEnd = end;
    return mustWait;
  }

  /** Sends the frames that the window has room for, and pauses the endpoint when it is full. */
  #read(bytes?: Uint8Array): void {
    const outcome = this.#response.read(bytes);
    if (outcome) this.#finish(outcome);
    else this.#response.pace(this.#exchange);
    if (!this.#response.isBuffering) this.#atEnd?.();
  }

  /** See `Receiver`. */
  get delivered(): number {
    return this.#request?.delivered ?? 0;
  }

  /** See `Receiver`. */
  durable(goesOn: boolean, acks: readonly Uint8Array[] | undefined): void {
    if (this.#phase !== "running") return;
    if (acks) this.#request?.acknowledge(acks);
    if (!goesOn) return;
    this.inactivity.touch();
    this.#read();
    this.#host.expect(this.due);
  }

  #finish(outcome: Outcome): void {
    this.#phase = "draining";
    this.#outcome = outcome;
    // After `End` the handler is done, so its caller need not wait for the stream to close.
    if (outcome.kind === "ended") this.#sendOutcome();
    // The SDK keeps its half open until ours is closed (docs/spec/service-protocol.md#end-of-an-attempt).
    this.#request?.stop();
    this.#response.stop(this.#exchange);
    this.inactivity.touch();
    this.#host.expect(this.due);
  }

  /** The endpoint did not end the response in time: resets the stream. */
  #reset(): void {
    this.#exchange?.abort();
    this.#sendOutcome();
    this.#close();
  }

  /** Sends the outcome, once. */
  #sendOutcome(): void {
    const { id, attempt, site } = this, outcome = this.#outcome;
    if (this.#isSent || this.#phase === "closed" || !outcome) return;
    this.#isSent = true;
    const jitter = this.#host.random.next();
    this.#host.deps.send({ type: "attemptEnded", id, attempt, outcome, jitter, site });
    this.#host.ended(this, outcome);
  }

  #close(): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    this.#host.closed(this);
  }
}
