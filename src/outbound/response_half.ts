import type { Exchange } from "../dial.ts";
import type { Outcome } from "../engine/event.ts";
import type { Command } from "../model/command.ts";
import type { AttemptSite } from "../model/invocation.ts";
import { decodeMessage } from "../wire/decode.ts";
import type { Acks } from "./acks.ts";
import type { BufferedRandom } from "./buffered_random.ts";
import type { Plan } from "./choose.ts";
import type { Contention } from "./contention.ts";
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
  /** Deployment and SDK of the attempt, as known when frames are sent. */
  readonly site: AttemptSite;
  readonly inactivity: Inactivity;
  /** The SDK has seen the journal entries below this index: see `RequestHalf`. */
  readonly delivered: number;
  /**
   * Frames that were sent are durable. `acks`: acknowledgements to write. `goesOn`: the window has
   * room again, so that reading continues.
   */
  durable(goesOn: boolean, acks: readonly Uint8Array[] | undefined): void;
}

/** What a response half needs of the owner of the attempts. */
export interface ResponseHost {
  readonly deps: OutboundDeps;
  readonly options: OutboundOptions;
  readonly random: BufferedRandom;
  readonly contention: Contention;
}

/** For events whose frames create no invocations. */
const NO_ENTROPY = new Uint8Array(16);

/**
 * The response of one attempt: its commands become events of the partition as far as the window has
 * room, and its terminal message ends the attempt.
 */
export class ResponseHalf {
  readonly #receiver: Receiver;
  readonly #host: ResponseHost;
  readonly #acks: Acks;
  readonly #window: ReceiveWindow;
  /** Commands that were decoded and not sent yet, and whether one of them creates an invocation. */
  #frames: Command[] = [];
  #calls = false;
  /** Frames sent to the mailbox so far. */
  #framesSent = 0;
  #outcome: Outcome | undefined;

  constructor(receiver: Receiver, host: ResponseHost, acks: Acks) {
    this.#receiver = receiver;
    this.#host = host;
    this.#acks = acks;
    const { options, contention } = host;
    this.#window = new ReceiveWindow(options, contention, (...frame) => this.#frame(...frame));
  }

  /** Whether the endpoint is paused. */
  get isPaused(): boolean {
    return this.#window.isPaused;
  }

  /** Whether received bytes wait for room in the window. */
  get isBuffering(): boolean {
    return this.#window.isBuffering;
  }

  /**
   * Decodes buffered bytes and `bytes` as far as the window has room, and sends the frames as one
   * event. Returns the outcome of the attempt, once its terminal message was decoded.
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

  /** Pauses the endpoint while bytes are buffered. */
  pace(exchange: Exchange | undefined): void {
    this.#window.pace(exchange);
  }

  /** Stops decoding, and lets the exchange run to its end. */
  stop(exchange: Exchange | undefined): void {
    this.#window.stop(exchange);
  }

  /** Returns whether the frame must be stored. */
  #frame(type: number, flags: number, body: Uint8Array): boolean {
    // Frames after a terminal message are ignored
    // (docs/spec/service-protocol.md#end-of-an-attempt).
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
