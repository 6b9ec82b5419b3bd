import type { Exchange } from "../dial.ts";
import type { Outcome } from "../engine/event.ts";
import type { Command } from "../model/command.ts";
import type { AttemptSite } from "../model/invocation.ts";
import { decodeMessage } from "../wire/decode.ts";
import type { Acks } from "./acks.ts";
import type { BufferedRandom } from "./buffered_random.ts";
import type { Plan } from "./choose.ts";
import { badMessage, unreadable } from "./failed.ts";
import type { Inactivity } from "./inactivity.ts";
import type { OutboundDeps, OutboundOptions } from "./options.ts";
import { outcomeOf } from "./outcome.ts";
import { ReceiveWindow } from "./receive_window.ts";

/** The attempt whose response is received. */
export interface Receiver {
  readonly id: string;
  readonly attempt: number;
  readonly plan: Plan;
  /** As it is known when frames are sent. */
  readonly site: AttemptSite;
  readonly inactivity: Inactivity;
  /** Journal entries below this index have been seen by the SDK: see `RequestHalf`. */
  readonly delivered: number;
  /**
   * Frames that were sent are durable. `acks`: what the SDK is to be told of it. `goesOn`: the
   * window has room again, so that reading should go on.
   */
  durable(goesOn: boolean, acks: readonly Uint8Array[] | undefined): void;
}

/** What it is lent by whoever keeps the attempts. */
export interface ResponseHost {
  readonly deps: OutboundDeps;
  readonly options: OutboundOptions;
  readonly random: BufferedRandom;
}

/** For frames that create no invocations. */
const NO_ENTROPY = new Uint8Array(16);

/**
 * What an endpoint says in one attempt: commands, which become events of the partition as far as the
 * window has room, and at last what ends the attempt.
 */
export class ResponseHalf {
  readonly #receiver: Receiver;
  readonly #host: ResponseHost;
  readonly #acks: Acks;
  readonly #window: ReceiveWindow;
  /** Commands that were read and not sent yet, and whether one of them creates an invocation. */
  #frames: Command[] = [];
  #calls = false;
  /** Frames sent so far. */
  #framesSent = 0;
  #outcome: Outcome | undefined;

  constructor(receiver: Receiver, host: ResponseHost, acks: Acks) {
    this.#receiver = receiver;
    this.#host = host;
    this.#acks = acks;
    this.#window = new ReceiveWindow(host.options, (...frame) => this.#frame(...frame));
  }

  /** Whether the endpoint is held up. */
  get isPaused(): boolean {
    return this.#window.isPaused;
  }

  /** Whether received bytes wait for room in the window. */
  get isBuffering(): boolean {
    return this.#window.isBuffering;
  }

  /**
   * Sends what the window has room for as one event: of what was received before, and of `bytes`.
   * Answers what ended the attempt, once it was read.
   */
  read(bytes?: Uint8Array): Outcome | undefined {
    try {
      this.#window.read(bytes);
    } catch (cause) {
      this.#outcome ??= badMessage(cause) ?? unreadable(cause, this.#receiver, this.#host.deps.log);
    }
    this.#flush();
    return this.#outcome;
  }

  /** Holds the endpoint up while received bytes must wait. */
  pace(exchange: Exchange | undefined): void {
    this.#window.pace(exchange);
  }

  /** Nothing is read any more: lets the exchange run to its end. */
  stop(exchange: Exchange | undefined): void {
    this.#window.stop(exchange);
  }

  /** Answers whether it is to be stored. */
  #frame(type: number, flags: number, body: Uint8Array): boolean {
    // What follows a terminal message does not count (docs/spec/service-protocol.md#end-of-an-attempt).
    if (this.#outcome) return false;
    const { plan, inactivity } = this.#receiver;
    const message = decodeMessage(type, flags, body, plan.pin.protocol, this.#host.options);
    if (message.kind !== "command") {
      this.#outcome = outcomeOf(message, this.#receiver.delivered);
      return false;
    }
    const { command, wantsAck = false } = message;
    if (command.kind === "call" || command.kind === "oneWayCall") this.#calls = true;
    inactivity.commandReceived(command);
    this.#acks.commandReceived(command, wantsAck);
    this.#frames.push(command);
    return true;
  }

  #flush(): void {
    const frames = this.#frames;
    if (frames.length === 0) return;
    const { deps: { send }, random } = this.#host;
    const entropy = this.#calls ? random.entropy() : NO_ENTROPY;
    const { id, attempt, site, plan: { pin } } = this.#receiver;
    const sent = { id, attempt, first: this.#framesSent, frames, pin, entropy, site };
    const event = { type: "framesReceived", ...sent } as const;
    this.#frames = [];
    this.#calls = false;
    this.#framesSent += frames.length;
    if (this.#outcome) return send(event);
    const unacked = this.#window.cut(), acks = this.#acks.take();
    send(event, () => this.#receiver.durable(this.#window.acked(unacked), acks));
  }
}
