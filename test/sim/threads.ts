import { partitionsOf } from "../../src/placement/thread_peers.ts";
import { channels } from "./channel.ts";
import { Injected } from "./connection.ts";
import { Broken } from "./must.ts";
import { type Owning, SETTLE_MS } from "./owners.ts";
import type { PartitionOwner } from "./partition_owner.ts";
import { Process } from "./process.ts";
import { Thread, type ThreadOptions } from "./thread.ts";

/** Within so long after the first thread of a process the last one starts, or begins to close. */
const APART_MS = 50;
/** When a thread ends by itself, the others do within so long. */
const END_MS = 20;

/** One process at a time, whose threads share out all partitions as long as it lives (decision 082). */
export class Threads implements Owning {
  deaths = 0;
  readonly #options: ThreadOptions;
  #threads: readonly Thread[] = [];
  #names = 0;
  #isCalm = false;
  #isClosing = false;
  #isEnding = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#boot();
  }

  get all(): readonly PartitionOwner[] {
    return this.#threads.flatMap(({ owners }) => [...owners.values()]);
  }

  last(partition: number): PartitionOwner | undefined {
    return this.all.find(({ place }) => place.partition === partition);
  }

  /** Nobody listens before all have started. */
  route(partition: number): PartitionOwner | undefined {
    const isListening = !this.#isClosing && this.#threads.every(({ isStarted }) => isStarted);
    return isListening ? this.last(partition) : undefined;
  }

  haunt(untilMs: number): void {
    const { world, faults } = this.#options, { chance } = world;
    const { moves, freezes, clockStepMs } = faults();
    const sometimes = (times: number, call: () => void) => {
      for (let n = times; n > 0; n--) {
        world.after(chance.int(0, untilMs), () => this.#isCalm || call());
      }
    };
    sometimes(moves, () => this.#restart());
    sometimes(2 * freezes, () => this.#freeze());
    sometimes(clockStepMs > 0 ? Math.ceil(untilMs / 500) : 0, () => {
      const most = Math.round(clockStepMs), ms = chance.int(-most, most);
      for (const { process } of this.#threads) process.step(ms);
    });
  }

  /** The first one stores it, and tells the others, which read it then. */
  controlsChanged(): void {
    const { world, faults } = this.#options;
    const [first, ...others] = this.#threads;
    first?.controlsChanged();
    for (const thread of others) {
      world.after(world.chance.int(0, 3 * faults().channelMs), () => thread.controlsChanged());
    }
  }

  calm(): void {
    this.#isCalm = true;
    for (const { process } of this.#threads) process.recover();
  }

  /** Whether somebody waits for an answer of another thread, which must come. */
  get unsettled(): string | undefined {
    const count = this.#threads.reduce((sum, { pending }) => sum + pending.size, 0);
    return count === 0 ? undefined : `${count} requests were never answered by another thread`;
  }

  #boot(): void {
    const { world, faults, threads, limits: { partitions } } = this.#options;
    const processes: Process[] = [];
    this.#isClosing = this.#isEnding = false;
    while (processes.length < threads) {
      const died = () => this.#died();
      const [clockOf] = processes;
      processes.push(new Process(this.#names++, { world, faults, died, clockOf }));
    }
    world.log(`boot of threads ${processes.map(({ name }) => name)}`);
    const ports = channels(processes, { world, ms: () => faults().channelMs });
    const made: readonly Thread[] = processes.map((process, n) =>
      new Thread(this.#options, {
        process,
        ports: ports[n] ?? new Map(),
        partitions: partitionsOf(n, { threads, partitions }),
        entrance: (connection, partition) => made[connection % threads]!.entrance(partition),
      })
    );
    this.#threads = made;
    for (const thread of made) {
      world.after(
        world.chance.int(0, APART_MS),
        () => thread.process.run(() => this.#start(thread)),
      );
    }
  }

  /** A server whose partitions cannot be opened ends, and is started again. */
  #start(thread: Thread): void {
    const { failed } = this.#options, { process } = thread;
    thread.start().catch((cause) => {
      if (!process.isAlive) return;
      if (!(cause instanceof Injected)) failed(new Broken("Cannot open", { cause }));
      process.kill();
    });
  }

  /** All stand still, or one whose others go on. */
  #freeze(): void {
    const { world } = this.#options, { chance } = world;
    const all = this.#threads;
    const frozen = chance.happens(0.5) || all.length === 0 ? all : [chance.pick(all)];
    for (const { process } of frozen) process.freeze();
    world.after(chance.int(50, 2_500), () => {
      for (const { process } of frozen) process.thaw();
    });
  }

  /** Ends in order: each thread when it gets to it, the process when all have. */
  #restart(): void {
    const { world, failed } = this.#options, threads = this.#threads;
    let left = threads.length;
    const close = async (thread: Thread) => {
      await thread.close();
      if (--left === 0) { for (const { process } of threads) process.kill(); }
    };
    this.#isClosing = true;
    for (const thread of threads) {
      world.after(world.chance.int(0, APART_MS), () => {
        thread.process.run(() => void close(thread).catch(failed));
      });
    }
  }

  /** A thread has ended, so all do: at once, or when the first one has heard of it. Then they come again. */
  #died(): void {
    const { world } = this.#options, { chance } = world, threads = this.#threads;
    if (!this.#isEnding) {
      this.#isEnding = true;
      world.after(chance.happens(0.5) ? 0 : chance.int(0, END_MS), () => {
        for (const { process } of threads) process.kill();
      });
    }
    if (threads.some(({ process }) => process.isAlive)) return;
    this.deaths++;
    this.#threads = [];
    world.after(this.#isCalm ? SETTLE_MS : chance.int(1, 400), () => this.#boot());
  }
}
