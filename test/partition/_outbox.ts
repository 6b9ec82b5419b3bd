import type { Message } from "../../src/model/message.ts";
import type { Rows } from "../../src/model/rows.ts";
import { OutboxSender } from "../../src/partition/outbox_sender.ts";
import type { OutboxBatch } from "../../src/ports.ts";
import { compareOutbox } from "../../src/storage/codec/order.ts";
import { World } from "../sim/world.ts";

/**
 * The outcome of a batch. `unheard`: it is applied, and its response is lost with an error. `silent`: the
 * same without an error. `part`: only its first message is applied.
 */
export type Fate = "taken" | "unheard" | "silent" | "refused" | "part" | "gap";

export interface OutboxWorldOptions {
  /** How long a read of the store takes, each way, and how long a batch takes. */
  readonly loadMs: number;
  readonly carryMs: number;
  /** The outcome of the next batch for a destination. Absent: applied. */
  readonly fate?: (to: number) => Fate;
}

/** The outbox sender of one partition, between a store and receivers that count as a partition does. */
export class OutboxWorld {
  readonly world = new World(1);
  readonly rows = new Map<string, Rows["outbox"]>();
  /** All messages that receivers have applied, in order. */
  readonly applied = new Map<number, number[]>();
  /** Every batch that was sent, by destination and first number. */
  readonly batches: { readonly to: number; readonly first: number; readonly size: number }[] = [];
  readonly warnings: string[] = [];
  readonly failures: unknown[] = [];
  sender: OutboxSender;
  loads = 0;
  loadFails = false;
  readonly #options: OutboxWorldOptions;
  readonly #sent = new Map<number, number>();
  readonly #busy = new Set<string>();
  #lives = 0;

  constructor(options: OutboxWorldOptions) {
    this.#options = options;
    this.sender = this.#make();
  }

  /** Writes a row, as a turn does. Returns its effect. */
  write(
    to: number,
    value: Uint8Array = new Uint8Array(0),
  ): { to: number; seq: number; message: Message } {
    const seq = (this.#sent.get(to) ?? 0) + 1;
    this.#sent.set(to, seq);
    const message: Message = {
      type: "signaled",
      signal: {
        target: "inv",
        id: { kind: "named", name: `${to}/${seq}` },
        result: { kind: "value", value },
      },
    };
    this.rows.set(`${to}/${seq}`, { from: 0, to, seq, message });
    return { to, seq, message };
  }

  /** Writes a row, and has it sent. */
  post(to: number, value?: Uint8Array): void {
    this.sender.add({ type: "forward", ...this.write(to, value) });
  }

  /** The life ends; another one begins with what the store has. */
  restart(): void {
    this.sender.stop();
    this.sender = this.#make();
    void this.sender.open();
  }

  written(to: number): number {
    return this.#sent.get(to) ?? 0;
  }

  /** Lets time pass, until `done`, or until so much is over. */
  async run(done: () => boolean, ms = 600_000): Promise<boolean> {
    return await this.world.run(done, { alarmsMax: 200_000, until: this.world.mono + ms });
  }

  /** Whether the outbox is empty, and all messages were applied. */
  get isDone(): boolean {
    if (this.rows.size > 0) return false;
    return [...this.#sent].every(([to, seq]) => this.applied.get(to)?.length === seq);
  }

  #make(): OutboxSender {
    const { world } = this, life = ++this.#lives;
    return new OutboxSender({
      from: 0,
      clock: {
        now: () => world.mono,
        at: (due, call) => world.after(due - world.mono, call),
        soon: (call) => void world.after(0, call),
      },
      log: (_, message, fields) => this.warnings.push(`${message} ${fields?.["to"]}`),
      load: (after, limit) => this.#load(after, limit),
      sendBatch: (to, batch) => this.#carry(to, batch, life),
      acknowledged: (to, { first, last }) => {
        // A turn of its own, some time later. Rows that are gone are not dropped twice.
        world.after(1, () => {
          for (let seq = first; seq <= last; seq++) this.rows.delete(`${to}/${seq}`);
        });
      },
      onFailure: (cause) => this.failures.push(cause),
    });
  }

  async #load(
    after: Pick<Rows["outbox"], "to" | "seq"> | undefined,
    limit: number,
  ): Promise<Rows["outbox"][]> {
    this.loads++;
    await this.world.sleep(this.#options.loadMs);
    if (this.loadFails) throw new Error("no store");
    const page = [...this.rows.values()]
      .filter((row) => !after || compareOutbox(row, { ...after, from: 0 }) > 0)
      .sort(compareOutbox).slice(0, limit);
    await this.world.sleep(this.#options.loadMs);
    return page;
  }

  async #carry(to: number, { from, first, messages }: OutboxBatch, life: number): Promise<number> {
    if (from !== 0 || messages.length === 0) throw new Error("That is no batch");
    const way = `${life} ${to}`;
    if (this.#busy.has(way)) this.failures.push(`Two batches for ${to} are on their way`);
    this.#busy.add(way);
    this.batches.push({ to, first, size: messages.length });
    const fate = this.#options.fate?.(to) ?? "taken";
    await this.world.sleep(this.#options.carryMs);
    const heard = fate === "refused" ? 0 : this.#take(to, first, messages, fate);
    await this.world.sleep(this.#options.carryMs);
    this.#busy.delete(way);
    if (fate === "silent") return await new Promise(() => {});
    if (fate === "refused" || fate === "unheard") throw new Error("Nobody answered");
    return heard;
  }

  /** As `engine/outbox.ts` does it. */
  #take(to: number, first: number, messages: readonly Message[], fate: Fate): number {
    const applied = this.applied.get(to) ?? [];
    this.applied.set(to, applied);
    if (fate === "gap") return 0;
    if (first > applied.length + 1) this.failures.push(`${first} comes to ${to} too early`);
    const count = fate === "part" ? 1 : messages.length;
    messages.slice(0, count).forEach((message, i) => {
      const name = message.type === "signaled" && message.signal.id.kind === "named"
        ? message.signal.id.name
        : "";
      if (name !== `${to}/${first + i}`) this.failures.push(`${name} comes as ${first + i}`);
      if (first + i === applied.length + 1) applied.push(first + i);
    });
    return applied.length;
  }
}
