import { assert } from "../assert.ts";
import { SlotMap } from "../slot_map.ts";
import type { Attempt, Effect } from "../engine/effect.ts";
import type { Outcome } from "../engine/event.ts";
import type { Deployment } from "../model/schema.ts";
import type { Target } from "../model/target.ts";
import type { Dial, DialRequest, Exchange } from "../dial.ts";
import type { RunningAttempt as Introspected } from "../query_port.ts";
import { Addresses } from "./address.ts";
import { type AttemptHost, RunningAttempt } from "./attempt.ts";
import { BufferedRandom } from "./buffered_random.ts";
import { choose } from "./choose.ts";
import { Contention } from "./contention.ts";
import { SlotPressure } from "./slot_pressure.ts";
import { FairQueue } from "./fair_queue.ts";
import type { Failed } from "./failed.ts";
import { FirstMessages } from "./first_message.ts";
import { withCredentials } from "./credentials/credentials.ts";
import { openSigned } from "./identity/signed_dial.ts";
import { OUTBOUND_DEFAULTS, type OutboundDeps, type OutboundOptions } from "./options.ts";
import { placeOf } from "./place.ts";
import { Ticker } from "./ticker.ts";

/** The status of an invocation's attempt. `ready`: it waits for a slot. */
export type AttemptStatus =
  | { readonly kind: "ready" }
  | {
    readonly kind: "running";
    /** Milliseconds since the epoch. */
    readonly startedAt: number;
    readonly deployment: string;
    readonly protocol: number;
    /** Name and version of the SDK, once it has answered. */
    readonly server?: string;
  };

/**
 * All attempts of one partition. At most `concurrencyMax` run at once, and of the others those of a
 * higher priority go first (`fair_queue.ts`). Of an attempt that waits only the id is kept; the
 * engine is asked for it again by `slotFree` when its slot is free.
 */
export class Attempts {
  readonly #deps: OutboundDeps;
  readonly #options: OutboundOptions;
  readonly #addresses: Addresses;
  readonly #ticker: Ticker;
  readonly #host: AttemptHost;
  readonly #random: BufferedRandom;
  readonly #contention: Contention;
  readonly #running = new SlotMap<string, RunningAttempt>();
  /** Attempts that were opened and are not started yet, by invocation. */
  readonly #early = new Map<string, number>();
  /** Have sent their outcome; their streams are still open. */
  readonly #draining = new SlotMap<number, RunningAttempt>();
  #begun = 0;
  readonly #queue: FairQueue;
  readonly #slotPressure: SlotPressure;
  readonly #firstMessages: FirstMessages;
  /** Invocations that were sent `slotFree` and have not started: each holds a slot. Since when they waited. */
  readonly #reserved = new Map<string, number>();
  #closed = false;

  constructor(deps: OutboundDeps, options: Partial<OutboundOptions> = {}) {
    this.#deps = deps;
    this.#options = { ...OUTBOUND_DEFAULTS, ...options };
    this.#queue = new FairQueue({ agingMs: this.#options.priorityAgingMs });
    this.#addresses = new Addresses(this.#options);
    this.#random = new BufferedRandom(deps.random);
    this.#contention = deps.contention ?? new Contention(deps.clock);
    this.#slotPressure = new SlotPressure(deps);
    this.#firstMessages = new FirstMessages(deps, this.#options);
    this.#ticker = new Ticker(deps.clock, (now) => this.#tick(now));
    this.#host = {
      deps,
      options: this.#options,
      random: this.#random,
      contention: this.#contention,
      expect: (due) => this.#ticker.expect(due),
      ended: (attempt, outcome) => this.#ended(attempt, outcome),
      closed: (attempt) => this.#closedAttempt(attempt),
    };
  }

  /** Runs an attempt, now or when a slot is free. One of a later generation replaces an older one. */
  start(effect: Attempt): void {
    const { id } = effect.invocation;
    if (this.#closed) return;
    if (this.#early.get(id) === effect.attempt) return this.#startEarly(effect);
    const older = this.#running.get(id);
    if (older && older.attempt >= effect.attempt) return;
    older?.abort();
    const since = this.#reserved.get(id);
    this.#reserved.delete(id);
    if (since === undefined && this.#taken >= this.#options.concurrencyMax) {
      this.#queue.add(placeOf(effect), { id, attempt: effect.attempt }, this.#deps.clock.now());
      return this.#ticker.expect(this.#slotPressure.due);
    }
    this.#queue.drop(id, effect.attempt);
    this.#run(effect, since);
  }

  /** See `AttemptRunner`. Does nothing where the attempt has to wait, or its request has to be whole. */
  openEarly(effect: Attempt): void {
    const { id } = effect.invocation;
    if (this.#closed || this.#running.get(id) || this.#reserved.has(id)) return;
    if (this.#taken < this.#options.concurrencyMax) this.#run(effect, undefined, { isEarly: true });
  }

  /**
   * See `AttemptRunner`. The attempt may be over already: its endpoint can fail before it has all of the
   * request.
   */
  proceed({ invocation: { id }, attempt }: Attempt): void {
    const running = this.#early.get(id) === attempt ? this.#running.get(id) : undefined;
    if (running?.attempt === attempt) running.proceed();
  }

  #startEarly(effect: Attempt): void {
    const { id } = effect.invocation;
    this.proceed(effect);
    this.#early.delete(id);
    this.#queue.drop(id, effect.attempt);
  }

  /** Passes a stored notification on to the running attempt. */
  notify({ id, attempt, index, entry }: Effect & { type: "notify" }): void {
    const running = this.#running.get(id);
    if (running?.attempt === attempt) running.notify(index, entry);
  }

  /** Closes the stream of an attempt, and of every older one. */
  abort({ id, attempt }: Effect & { type: "abort" }): void {
    this.#queue.drop(id, attempt);
    const running = this.#running.get(id);
    if (running && running.attempt <= attempt) running.abort();
  }

  /**
   * Asks an attempt to suspend (docs/spec/service-protocol.md#cancel-and-kill, end). For one that
   * waits in the queue, `slotFree` is sent at once, without a slot: the engine then ends it instead
   * of starting it. Nothing happens to an attempt that is over or already reserved.
   */
  yield({ id, attempt }: Effect & { type: "yield" }): void {
    const running = this.#running.get(id);
    if (running?.attempt === attempt) return running.yield();
    if (this.#queue.attemptOf(id) !== attempt) return;
    this.#queue.drop(id, attempt);
    this.#deps.send({ type: "slotFree", id, attempt });
  }

  /** What introspection shows. Undefined: no attempt. */
  status(id: string): AttemptStatus | undefined {
    const running = this.#running.get(id);
    if (!running) return this.#queue.attemptOf(id) !== undefined ? { kind: "ready" } : undefined;
    const { site, plan: { pin } } = running;
    return { kind: "running", ...site, ...pin };
  }

  /** All attempts that run, for introspection. */
  *running(): Iterable<Introspected> {
    for (const { id, site, plan: { pin: { deployment } } } of this.#running.values()) {
      yield { id, ...site, deployment };
    }
  }

  /** Attempts that run, and that wait for a slot. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.size, waiting: this.#queue.size };
  }

  /** Resets all streams. No event is sent afterwards. */
  close(): void {
    this.#closed = true;
    this.#ticker.stop();
    this.#queue.clear();
    for (const attempt of [...this.#running.values(), ...this.#draining.values()]) attempt.abort();
  }

  get #taken(): number {
    return this.#running.size + this.#reserved.size;
  }

  /** `since`: when it began to wait for a slot. */
  #run(effect: Attempt, since: number | undefined, { isEarly } = { isEarly: false }): void {
    const { invocation } = effect;
    const chosen = choose(this.#deps.schema(), invocation, this.#options.protocolMax);
    if ("failure" in chosen) return isEarly ? undefined : this.#refuse(effect, chosen);
    if (isEarly) this.#early.set(invocation.id, effect.attempt);
    const span = this.#deps.watch?.began(invocation, effect.attempt, chosen.pin);
    const waitedMs = since === undefined ? undefined : this.#waited(invocation.target, since);
    const { dial, mediaType } = this.#addresses.request(
      chosen.deployment,
      chosen.pin.protocol,
      span ? { ...invocation, trace: span.trace } : invocation,
    );
    const isHalfDuplex = this.#deps.dial.isHalfDuplex?.(dial);
    const plan = isHalfDuplex ? { ...chosen, requestResponse: true } : chosen;
    const attempt = new RunningAttempt(this.#host, effect, {
      number: ++this.#begun,
      plan,
      mediaType,
      span,
      waitedMs,
    });
    this.#running.set(attempt.id, attempt);
    this.#contention.began();
    this.#ticker.expect(this.#firstMessages.dueOf(attempt));
    attempt.begin(this.#open(dial, attempt, invocation.target), effect, { isHeld: isEarly });
  }

  /** How long an attempt waited for a slot, in milliseconds. Undefined: the clock was set back. */
  #waited(target: Target, since: number): number | undefined {
    const ms = this.#deps.clock.now() - since;
    if (ms <= 0) return undefined;
    this.#deps.watch?.meter.slotWaited(target, ms);
    return ms;
  }

  #open(request: DialRequest, attempt: RunningAttempt, target: Target): Exchange {
    const { signer } = this.#deps;
    const dial = this.#dialOf(attempt.plan.deployment);
    if (!signer) return dial.open(request, attempt);
    return openSigned(dial, request, {
      signer,
      dialects: [attempt.plan.deployment.dialect],
      claims: { audience: `/invoke/${target.service}/${target.handler}`, subject: target.key },
      listener: attempt,
    });
  }

  #dialOf(deployment: Deployment): Dial {
    const { dial, functions, credentials } = this.#deps;
    const { uri, lambda } = deployment;
    if (!lambda) return withCredentials(dial, deployment, credentials);
    assert(functions, "A function is registered only where functions can be called");
    return withCredentials(functions.dial(uri, lambda), deployment, credentials);
  }

  #refuse({ invocation: { id, target }, attempt }: Attempt, outcome: Failed): void {
    this.#deps.watch?.ended({ target }, outcome);
    const jitter = this.#random.next();
    const site = { startedAt: this.#deps.clock.now() };
    this.#deps.send({ type: "attemptEnded", id, attempt, outcome, jitter, site });
    this.#offer();
  }

  #ended(attempt: RunningAttempt, outcome: Outcome): void {
    this.#deps.watch?.ended(attempt, outcome, attempt.span);
    if (attempt.inactivity.hasReceived) this.#firstMessages.answered(attempt.plan.pin.deployment);
    this.#draining.set(attempt.number, attempt);
    this.#leave(attempt);
  }

  #closedAttempt(attempt: RunningAttempt): void {
    attempt.span?.end("aborted");
    this.#draining.delete(attempt.number);
    this.#leave(attempt);
  }

  #leave(attempt: RunningAttempt): void {
    if (this.#running.get(attempt.id) !== attempt) return;
    this.#running.delete(attempt.id);
    this.#contention.ended();
    this.#offer();
  }

  /** Sends `slotFree` to the next attempts in the queue while slots are free. */
  #offer(): void {
    while (!this.#closed && this.#queue.size > 0 && this.#taken < this.#options.concurrencyMax) {
      const next = this.#queue.next(this.#deps.clock.now());
      if (!next) return;
      const { id, attempt, since } = next;
      this.#reserved.set(id, since);
      // When the turn that handled `slotFree` is over and did not start the attempt, the invocation
      // has moved on: the slot is released.
      const lapse = () => {
        if (this.#reserved.delete(id)) this.#offer();
      };
      this.#deps.send(
        { type: "slotFree", id, attempt },
        () => this.#deps.clock.soon(lapse),
      );
    }
  }

  #tick(now: number): number {
    let due = this.#slotPressure.check(now, this.#running.values(), {
      used: this.#taken,
      limit: this.#options.concurrencyMax,
      queued: this.#queue.size,
    });
    for (const attempts of [this.#running.values(), this.#draining.values()]) {
      for (const attempt of attempts) {
        if (attempt.due <= now) attempt.expire(now);
        due = Math.min(due, attempt.due);
      }
    }
    return Math.min(due, this.#firstMessages.check(now, this.#running.values()));
  }
}
