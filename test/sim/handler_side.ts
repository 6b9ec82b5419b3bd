import { fromBinary } from "@bufbuild/protobuf";
import { entryType } from "../../src/model/journal.ts";
import type { DialListener, DialRequest, Exchange } from "../../src/dial.ts";
import { StartSchema } from "../../src/wire/gen/service_pb.ts";
import { Frames, say } from "../outbound/_scripts.ts";
import type { World } from "./world.ts";

/** How long the server waits, in milliseconds. */
export const WAITS = { inactivityMs: 200, abortMs: 150, drainMs: 300 } as const;

const MANNERS = ["quick", "quick", "slow", "error", "bad", "status", "broken", "sleepy"] as const;
type Manner = typeof MANNERS[number];

export interface SideOptions {
  readonly world: World;
  readonly request: DialRequest;
  readonly listener: DialListener;
  /** Nothing goes wrong any more. */
  readonly isCalm: boolean;
  /** It works until `release` is called. */
  readonly isHeld: boolean;
  /** Called when it has read the whole replay: only now its handler may begin. */
  readonly begins: () => void;
}

/**
 * The endpoint's side of one attempt: a handler that works, says something in one of several manners,
 * and may go on working after it, as a step does that nobody can interrupt.
 */
export class HandlerSide implements Exchange {
  readonly id: string;
  /** Of the object. Absent: the invocation alone has a claim. */
  readonly key: string | undefined;
  readonly number: number;
  /** Code of the handler runs. */
  isWorking = false;
  /** The endpoint has ended the response. */
  isEnded = false;
  /** When the server reset the stream, in simulated milliseconds. */
  resetAt: number | undefined;
  /** An operator killed the invocation, or the server's life ended: a reset needs no waiting. */
  isExcused = false;
  readonly #options: SideOptions;
  readonly #frames = new Frames();
  readonly #manner: Manner;
  #hasBegun = false;
  #isHeld: boolean;
  /** When the endpoint said what ends an attempt. */
  #saidAt: number | undefined;
  /** When anything that the server can see last happened. */
  #movedAt: number;
  #isInputEnded = false;
  #sleeps = false;

  constructor(number: number, options: SideOptions) {
    const { world, request: { headers }, isCalm, isHeld } = options;
    this.#isHeld = isHeld;
    this.#options = options;
    this.number = number;
    this.id = headers["x-svc-invocation-id"] ?? "";
    this.key = headers["x-svc-service-key"];
    this.#movedAt = world.mono;
    this.#manner = isCalm ? "quick" : world.chance.pick(MANNERS);
    world.log(`side ${number} of ${this.id.slice(-8)} begins: ${this.#manner}`);
  }

  /** Whether the server may begin what this handler's work excludes. */
  get isOver(): boolean {
    if (!this.isWorking) return true;
    const { resetAt } = this;
    if (resetAt === undefined) return false;
    const overAt = this.#saidAt ??
      (this.#isInputEnded ? this.#movedAt + WAITS.abortMs : Infinity);
    return this.isExcused || resetAt >= overAt + WAITS.drainMs;
  }

  /** Whether nobody holds the stream any more. */
  get isClosed(): boolean {
    return this.isEnded || this.resetAt !== undefined;
  }

  /** Whether it has not said how its attempt ends, and the stream is open. */
  get isSpeaking(): boolean {
    return this.#saidAt === undefined && !this.isClosed;
  }

  /** A handler that was held ends. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#after(50, () => this.#succeed());
  }

  write(bytes: Uint8Array): boolean {
    this.#frames.push(bytes);
    this.#begin();
    if (this.#sleeps && this.#isAwake) this.#after(3, () => this.#succeed());
    return true;
  }

  end(): void {
    if (this.#isInputEnded) return;
    this.#isInputEnded = true;
    this.#movedAt = this.#options.world.mono;
    if (this.#sleeps) this.#after(3, () => this.#suspend());
  }

  abort(): void {
    const { world } = this.#options;
    if (this.isClosed) return;
    world.log(`side ${this.number} of ${this.id.slice(-8)} is reset`);
    this.resetAt = world.mono;
  }

  pause(): void {}

  resume(): void {}

  get #isAwake(): boolean {
    return this.#frames.types.includes(entryType.sleepCompletion);
  }

  /** Its first message says of how many entries the replay is. */
  #begin(): void {
    const { bodies: [start], types } = this.#frames;
    if (this.#hasBegun || !start) return;
    if (types.length <= fromBinary(StartSchema, start).knownEntries) return;
    this.#hasBegun = true;
    const { world, begins } = this.#options;
    begins();
    this.isWorking = true;
    world.after(world.chance.int(0, 5), () => this.#live());
  }

  #live(): void {
    const { chance } = this.#options.world;
    switch (this.#manner) {
      case "quick":
        if (this.#isHeld) return;
        return this.#after(50, () => this.#succeed());
      case "slow":
        return this.#after(1_500, () => this.#succeed());
      case "error":
        return this.#after(50, () => this.#fail(say.error({ code: 500, message: "no" })));
      case "bad":
        return this.#after(50, () => this.#fail(new Uint8Array([0x7f, 0xff, 0, 0, 0, 0, 0, 0])));
      case "status":
        this.#head(500);
        this.#saidAt = this.#movedAt;
        return this.#linger();
      case "broken":
        return this.#after(50, () => this.#break());
      case "sleepy":
        if (this.#isAwake) return this.#after(50, () => this.#succeed());
        this.#head();
        if (!this.#frames.types.includes(entryType.sleep)) {
          this.#say(say.sleepUntil(1, this.#options.world.wall + chance.int(20, 500)));
        }
        this.#sleeps = true;
        if (this.#isInputEnded) this.#after(3, () => this.#suspend());
    }
  }

  #succeed(): void {
    if (this.#saidAt !== undefined) return;
    this.#head();
    this.isWorking = false;
    this.#last(say.output("ok"), say.end());
    this.#after(this.#options.world.chance.pick([3, 3, 400]), () => this.#finish());
  }

  #suspend(): void {
    if (this.#saidAt !== undefined) return;
    this.#last(say.suspend(1));
    this.#linger();
  }

  #fail(bytes: Uint8Array): void {
    this.#head();
    this.#last(bytes);
    this.#linger();
  }

  #break(): void {
    this.isWorking = false;
    this.isEnded = true;
    if (this.resetAt === undefined) {
      this.#options.listener.failed({ kind: "reset", message: "broken" });
    }
  }

  /** Works on for a while, and then ends the response. */
  #linger(): void {
    this.#after(this.#options.world.chance.pick([3, 200, 800]), () => this.#finish());
  }

  #finish(): void {
    this.isWorking = false;
    if (this.isClosed) return;
    this.isEnded = true;
    this.#options.listener.end();
  }

  #head(status = 200): void {
    if (this.isClosed) return;
    this.#movedAt = this.#options.world.mono;
    const header = (name: string) =>
      name === "content-type" ? this.#options.request.headers[name] : undefined;
    this.#options.listener.head({ status, httpVersion: "HTTP/2.0", header });
  }

  #last(...parts: readonly Uint8Array[]): void {
    this.#saidAt = this.#options.world.mono;
    for (const part of parts) this.#say(part);
  }

  #say(bytes: Uint8Array): void {
    if (this.isClosed) return;
    this.#movedAt = this.#options.world.mono;
    this.#options.listener.chunk(bytes);
  }

  /** Within so many milliseconds. */
  #after(ms: number, call: () => void): void {
    const { world } = this.#options;
    world.after(world.chance.int(0, ms), call);
  }
}
