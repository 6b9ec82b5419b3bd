import { copyBytes } from "../bytes.ts";
import type { Exchange } from "../dial.ts";
import { FRAME_HEAD_BYTES, FrameReader, type OnFrame } from "../wire/frame.ts";
import { isStored } from "../wire/message_type.ts";
import type { Contention } from "./contention.ts";
import type { OutboundOptions } from "./options.ts";

/** Frames of a stream that were sent to the mailbox together, until they are durable. */
export interface UnackedFrames {
  readonly frames: number;
  /** The heads of the frames included. */
  readonly bytes: number;
}

/** Takes one frame. Returns whether it must become durable, so that it counts in the window. */
export type OnDecoded = (type: number, flags: number, body: Uint8Array) => boolean;

type WindowLimits = Pick<
  OutboundOptions,
  "messageBytesMax" | "unackedFramesMax" | "unackedBytesMax" | "burstFramesMax"
>;

/** The part of its window of frames that an attempt keeps beside others after `burstFramesMax` frames. */
const SUSTAINED_SHARE = 1 / 16;

/**
 * The receiving side of one attempt, with flow control: commands are decoded while fewer than
 * `unackedFramesMax` frames and `unackedBytesMax` bytes are not durable. Beyond that, received
 * bytes are buffered undecoded and the exchange is paused, so the endpoint's writes block. Thus one
 * stream never has more than one window of frames in the mailbox, plus one frame that was collected
 * from several chunks, however fast its endpoint writes. After `burstFramesMax` frames the window is
 * a sixteenth of that while other attempts run, because an endpoint that writes without end would
 * otherwise take most of every commit (decisions 049 and 093). The end of an attempt passes a full
 * window: it is committed together with the output that filled it.
 */
export class ReceiveWindow {
  readonly #limits: WindowLimits;
  readonly #reader: FrameReader;
  readonly #onFrame: OnFrame;
  readonly #contention: Contention;
  readonly #mayTake = (type: number) => !this.#isFull || !isStored(type);
  /** Received and not decoded. Non-empty only while the window is full. */
  #buffered: Uint8Array[] = [];
  /** Decoded and not durable: in all, and since the last `cut`. */
  #unacked: UnackedFrames = NOTHING;
  #frames = 0;
  #bytes = 0;
  /** Frames of the attempt that must become durable, so far. */
  #total = 0;
  #isPaused = false;

  constructor(limits: WindowLimits, contention: Contention, onDecoded: OnDecoded) {
    this.#limits = limits;
    this.#contention = contention;
    this.#reader = new FrameReader(limits.messageBytesMax);
    this.#onFrame = (type, flags, body) => {
      if (!onDecoded(type, flags, body)) return;
      this.#frames++;
      this.#total++;
      this.#bytes += FRAME_HEAD_BYTES + body.length;
    };
  }

  /** Whether the exchange is paused. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether received bytes wait for room in the window. */
  get isBuffering(): boolean {
    return this.#buffered.length > 0;
  }

  /**
   * Decodes the buffered bytes and then `chunk`, as far as the window allows, and keeps a copy of the
   * rest. Throws what `FrameReader.push` throws; then it must not be called again.
   */
  read(chunk?: Uint8Array): void {
    // Without the copy that a buffered chunk needs, since most are decoded at once.
    if (chunk && this.#buffered.length === 0) return this.#readAtOnce(chunk);
    if (chunk) this.#buffered.push(copyBytes(chunk));
    let done = 0;
    for (let next = this.#buffered[0]; next; next = this.#buffered[++done]) {
      const taken = this.#reader.push(next, this.#onFrame, this.#mayTake);
      if (taken === next.length) continue;
      this.#buffered[done] = next.subarray(taken);
      break;
    }
    if (done === this.#buffered.length) this.#buffered = [];
    else this.#buffered.splice(0, done);
  }

  #readAtOnce(chunk: Uint8Array): void {
    const taken = this.#reader.push(chunk, this.#onFrame, this.#mayTake);
    if (taken < chunk.length) this.#buffered.push(copyBytes(chunk, taken));
  }

  /** The frames decoded since the last call, to be passed to `acked` once they are durable. */
  cut(): UnackedFrames {
    const unacked = { frames: this.#frames, bytes: this.#bytes };
    this.#frames = this.#bytes = 0;
    this.#unacked = add(this.#unacked, unacked, 1);
    return unacked;
  }

  /** Frames are durable. Returns whether to continue reading: half of a full window is free. */
  acked(unacked: UnackedFrames): boolean {
    const { frames, bytes } = this.#unacked = add(this.#unacked, unacked, -1);
    const { unackedBytesMax } = this.#limits;
    return this.#isPaused && frames <= this.#framesMax / 2 && bytes <= unackedBytesMax / 2;
  }

  /** Pauses the exchange while bytes are buffered, and resumes it when none are. */
  pace(exchange: Exchange | undefined): void {
    const isPaused = this.isBuffering;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) exchange?.pause();
    else exchange?.resume();
  }

  /** Stops decoding: drops the buffer, and resumes the exchange so that it can end. */
  stop(exchange: Exchange | undefined): void {
    this.#buffered = [];
    if (this.#isPaused) exchange?.resume();
    this.#isPaused = false;
  }

  get #isFull(): boolean {
    const { frames, bytes } = this.#unacked;
    const { unackedBytesMax } = this.#limits;
    return frames + this.#frames >= this.#framesMax || bytes + this.#bytes >= unackedBytesMax;
  }

  get #framesMax(): number {
    const { unackedFramesMax, burstFramesMax } = this.#limits;
    return this.#total < burstFramesMax || this.#contention.isAlone()
      ? unackedFramesMax
      : Math.ceil(unackedFramesMax * SUSTAINED_SHARE);
  }
}

const NOTHING: UnackedFrames = { frames: 0, bytes: 0 };

function add(a: UnackedFrames, b: UnackedFrames, sign: 1 | -1): UnackedFrames {
  return { frames: a.frames + sign * b.frames, bytes: a.bytes + sign * b.bytes };
}
