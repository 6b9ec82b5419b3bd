import type { Attempt } from "../engine/effect.ts";
import type { Outcome } from "../engine/event.ts";
import type { Command } from "../model/command.ts";
import type { AttemptSite } from "../model/invocation.ts";
import type { Entry } from "../model/journal.ts";
import type { Target } from "../model/target.ts";
import { header } from "../names.ts";
import type { AttemptSpan } from "../observe/tracer.ts";
import type { DialFailure, DialHead, DialListener, Exchange } from "../dial.ts";
import { decodeMessage } from "../wire/decode.ts";
import { Acks } from "./acks.ts";
import type { Chance } from "./buffered_random.ts";
import type { Plan } from "./choose.ts";
import type { Tenant } from "./slot_pressure.ts";
import { abortTimedOut, badMessage, endedEarly, networkFailed, unreadable } from "./failed.ts";
import { Intake, type Slice } from "./intake.ts";
import type { OutboundOptions, OutboundWorld } from "./options.ts";
import { outcomeOf } from "./outcome.ts";
import { RequestHalf } from "./request_half.ts";
import { refusal } from "./response.ts";
import { Silence } from "./silence.ts";
import { startOf } from "./start.ts";

/** What an attempt needs of whoever keeps the attempts. */
export interface AttemptHost {
  readonly world: OutboundWorld;
  readonly options: OutboundOptions;
  readonly chance: Chance;
  /** A deadline was set, in milliseconds since the epoch. */
  expect(due: number): void;
  /** The outcome was sent. After `End` the stream may still be open. */
  ended(attempt: RunningAttempt, outcome: Outcome): void;
  /** The stream is gone. */
  closed(attempt: RunningAttempt): void;
}

/** For frames that create no invocations. */
const NO_ENTROPY = new Uint8Array(16);

/**
 * One attempt: one stream to one endpoint (docs/spec/service-protocol.md#start-of-an-attempt). `running` until its outcome is
 * known, then `draining` until the response ends or time is up, then `closed`. An outcome after which
 * the invocation may begin another attempt is sent only when the stream is closed: until then the
 * handler may still run, and two attempts of one invocation must not overlap (decision 041).
 */
export class RunningAttempt implements DialListener, Tenant {
  readonly id: string;
  readonly attempt: number;
  /** Which one this is, of all attempts since the partition began its life. */
  readonly number: number;
  readonly plan: Plan;
  readonly target: Target;
  readonly span: AttemptSpan | undefined;
  /** Replaced once the endpoint says what it is made with. */
  site: AttemptSite;
  readonly silence: Silence;
  readonly #host: AttemptHost;
  readonly #mediaType: string;
  readonly #intake: Intake;
  /** How the stream ended, while received bytes still wait to be read. */
  #afterHeld: (() => void) | undefined;
  #exchange: Exchange | undefined;
  #request: RequestHalf | undefined;
  #phase: "running" | "draining" | "closed" = "running";
  /** Frames of the slice at hand. */
  #frames: Command[] = [];
  #calls = false;
  #outcome: Outcome | undefined;
  #isTold = false;
  /** Frames sent so far. */
  #heard = 0;
  readonly #acks: Acks;

  constructor(
    host: AttemptHost,
    effect: Attempt,
    { number, plan, mediaType, span }: {
      readonly number: number;
      readonly plan: Plan;
      readonly mediaType: string;
      readonly span?: AttemptSpan | undefined;
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
    this.#intake = new Intake(host.options, (...frame) => this.#frame(...frame));
    this.#acks = new Acks(effect.invocation.commands);
    this.silence = new Silence(host.world.clock, effect.entries);
    const { movedAt: startedAt } = this.silence;
    this.site = { startedAt, deployment: plan.pin.deployment };
  }

  /** Says `Start` and the replay at once: some endpoints answer only when they have read it. */
  begin(exchange: Exchange, effect: Attempt): void {
    this.#exchange = exchange;
    this.#request = new RequestHalf(exchange, this.#host.options.unreadBytesMax);
    this.#request.begin(startOf(effect, this.site.startedAt), effect.entries);
    if (this.plan.requestResponse) this.#request.end();
    this.#host.expect(this.due);
  }

  /** A notification was stored while this attempt runs. */
  notify(index: number, entry: Entry): void {
    if (this.#phase !== "running") return;
    if (this.#request?.notify(index, entry, this.#acks.of(entry))) this.silence.moved();
  }

  /** Tells the SDK that nothing more will come: it then suspends when it has nothing left to do. */
  yield(): void {
    if (this.#phase !== "running" || !this.#isOpen) return;
    this.silence.moved();
    this.#request?.end();
    this.#host.expect(this.due);
  }

  /** As `yield`, for the sake of others. A silent step keeps all the time that it had. */
  makeRoom(now: number): void {
    if (!this.canSuspend) return;
    this.silence.askedAt = now;
    this.#request?.end();
    this.#host.expect(this.due);
  }

  get canSuspend(): boolean {
    return this.#phase === "running" && this.#isOpen && this.silence.isUnexplained;
  }

  /** Tears the stream down. Nothing more is heard of it. */
  abort(): void {
    this.#close();
    this.#exchange?.abort();
  }

  head(head: DialHead): void {
    if (this.#phase !== "running") return;
    this.silence.answered();
    const server = head.header(header(this.plan.deployment.dialect, "server"));
    if (server !== undefined) this.site = { ...this.site, server };
    const { protocol } = this.plan.pin;
    const refused = refusal(head, {
      mediaType: this.#mediaType,
      protocol,
      now: this.silence.movedAt,
    });
    if (refused) this.#finish(refused);
  }

  chunk(bytes: Uint8Array): void {
    if (this.#phase !== "running") return;
    this.silence.received();
    this.#read(bytes);
  }

  end(): void {
    if (this.#mustWait(() => this.end())) return;
    if (this.#phase === "running") this.#finish(endedEarly);
    // An endpoint that has answered without reading would keep its half of the stream for ever.
    if (this.#request?.blocked) this.#exchange?.abort();
    this.#tell();
    this.#close();
  }

  failed(failure: DialFailure): void {
    if (this.#mustWait(() => this.failed(failure))) return;
    if (this.#phase === "running") this.#finish(networkFailed(this.plan.deployment.uri, failure));
    this.#tell();
    this.#close();
  }

  drain(): void {
    if (this.#phase !== "running") return;
    this.silence.moved();
    this.#request?.drain();
  }

  /** When to look at it again, in milliseconds since the epoch (docs/spec/service-protocol.md#timers-of-an-attempt). */
  get due(): number {
    if (this.#phase === "draining") return this.silence.movedAt + this.#host.options.drainMs;
    if (this.#phase === "closed" || this.#intake.isPaused) return Infinity;
    return this.silence.dueOf(this.plan, this.#isOpen);
  }

  /** Whether the endpoint may still be told things. */
  get #isOpen(): boolean {
    return this.#request?.open === true;
  }

  /** It is `now`, and `due` has passed. */
  expire(now: number): void {
    if (this.#phase === "draining") return this.#cut();
    this.silence.movedAt = now;
    // The SDK then suspends when it has nothing left to do.
    if (this.#isOpen) this.#request?.end();
    else this.#finish(abortTimedOut(this.plan.abortTimeoutMs));
  }

  /** The end of a stream comes after its frames, and these after room in the window. */
  #mustWait(end: () => void): boolean {
    const mustWait = this.#phase === "running" && this.#intake.isHolding;
    if (mustWait) this.#afterHeld = end;
    return mustWait;
  }

  /** Offers a turn what the window has room for, and holds the endpoint up when it is full. */
  #read(bytes?: Uint8Array): void {
    try {
      this.#intake.read(bytes);
    } catch (cause) {
      this.#outcome ??= badMessage(cause) ?? unreadable(cause, this, this.#host.world.log);
    }
    this.#flush();
    if (this.#outcome) this.#finish(this.#outcome);
    else this.#intake.pace(this.#exchange);
    if (!this.#intake.isHolding) this.#afterHeld?.();
  }

  /** Answers whether it is to be stored. */
  #frame(type: number, flags: number, body: Uint8Array): boolean {
    // What follows a terminal message does not count (docs/spec/service-protocol.md#end-of-an-attempt).
    if (this.#outcome) return false;
    const message = decodeMessage(type, flags, body, this.plan.pin.protocol, this.#host.options);
    if (message.kind !== "command") {
      this.#outcome = outcomeOf(message, this.#request?.delivered ?? 0);
      return false;
    }
    const { command, wantsAck = false } = message;
    if (command.kind === "call" || command.kind === "oneWayCall") this.#calls = true;
    this.silence.heard(command);
    this.#acks.heard(command, wantsAck);
    this.#frames.push(command);
    return true;
  }

  /** Sends what was read as one event. */
  #flush(): void {
    const frames = this.#frames;
    if (frames.length === 0) return;
    const entropy = this.#calls ? this.#host.chance.entropy() : NO_ENTROPY;
    const { id, attempt, site, plan: { pin } } = this, first = this.#heard;
    const event = { type: "heard", id, attempt, first, frames, pin, entropy, site } as const;
    this.#frames = [];
    this.#calls = false;
    this.#heard += frames.length;
    const { send } = this.#host.world;
    if (this.#outcome) return send(event);
    const slice = this.#intake.cut(), acks = this.#acks.take();
    send(event, () => this.#acked(slice, acks));
  }

  #acked(slice: Slice, acks: readonly Uint8Array[] | undefined): void {
    const goesOn = this.#intake.acked(slice);
    if (this.#phase !== "running") return;
    if (acks) this.#request?.acknowledge(acks);
    if (!goesOn) return;
    this.silence.moved();
    this.#read();
    this.#host.expect(this.due);
  }

  #finish(outcome: Outcome): void {
    this.#phase = "draining";
    this.#outcome = outcome;
    // With `End` the handler is done, so its caller need not wait for the stream.
    if (outcome.kind === "ended") this.#tell();
    // The SDK keeps its half open until ours is closed (docs/spec/service-protocol.md#end-of-an-attempt).
    this.#request?.stop();
    this.#intake.stop(this.#exchange);
    this.silence.moved();
    this.#host.expect(this.due);
  }

  /** The endpoint had its time to end the response: resets the stream. */
  #cut(): void {
    this.#exchange?.abort();
    this.#tell();
    this.#close();
  }

  /** Sends the outcome, once. */
  #tell(): void {
    const { id, attempt, site } = this, outcome = this.#outcome;
    if (this.#isTold || this.#phase === "closed" || !outcome) return;
    this.#isTold = true;
    const chance = this.#host.chance.next();
    this.#host.world.send({ type: "attemptEnded", id, attempt, outcome, chance, site });
    this.#host.ended(this, outcome);
  }

  #close(): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    this.#host.closed(this);
  }
}
