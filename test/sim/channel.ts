import type { ThreadPort } from "../../src/placement/thread_peers.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

export interface ChannelOptions {
  readonly world: World;
  /** Upper bound of what a message takes, in milliseconds. */
  readonly ms: () => number;
}

/** A port between two threads as platforms have it: messages come in order, and none is lost. */
class Port implements ThreadPort {
  onmessage: ThreadPort["onmessage"] = null;
  other: Port | undefined;
  readonly process: Process;
  readonly #options: ChannelOptions;
  /** When the last message arrives. */
  #lastAt = 0;

  constructor(process: Process, options: ChannelOptions) {
    this.process = process;
    this.#options = options;
  }

  postMessage(message: Uint8Array<ArrayBuffer>, transfer: readonly ArrayBuffer[]): void {
    const { world, ms } = this.#options, { other } = this;
    if (!this.process.touch() || !other) return;
    // What is handed over is gone here: who uses it again would send nothing.
    const data = structuredClone(message, { transfer: [...transfer] });
    this.#lastAt = Math.max(this.#lastAt, world.mono + world.chance.int(0, ms()));
    world.after(this.#lastAt - world.mono, () => {
      other.process.run(() => other.onmessage?.({ data }));
    });
  }
}

/** For each of some threads, its ports by the numbers of the others. */
export function channels(
  processes: readonly Process[],
  options: ChannelOptions,
): ReadonlyMap<number, ThreadPort>[] {
  const ports = processes.map((process, mine) =>
    new Map(
      [...processes.keys()].filter((one) => one !== mine)
        .map((one) => [one, new Port(process, options)] as const),
    )
  );
  ports.forEach((mine, at) => mine.forEach((port, other) => port.other = ports[other]?.get(at)));
  return ports;
}
