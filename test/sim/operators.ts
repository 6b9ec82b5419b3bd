import type { DeploymentChoice, Operation } from "../../src/engine/event.ts";
import type { Signal } from "../../src/model/command.ts";
import { siblingInvocationId } from "../../src/model/id.ts";
import { ask, type Asking } from "./asking.ts";
import { must } from "./must.ts";
import { NOBODY, workflowId } from "./names.ts";
import { signalId } from "./program.ts";
import { bytesOf } from "./spoken.ts";
import type { Before } from "./operations.ts";

/** Operators that change invocations at any time, and read what becomes of them. */
export class Operator {
  readonly #name: string;
  readonly #options: Asking;
  #signals = 0;

  constructor(name: string, options: Asking) {
    this.#name = name;
    this.#options = options;
  }

  /** Does this or that, with whomever there is, until `untilMs`. */
  async live(untilMs: number): Promise<void> {
    const { world, failed, history } = this.#options, { chance } = world;
    const until = world.mono + untilMs, hurry = chance.pick([20, 100, 500, 2_000]);
    try {
      for (;;) {
        await world.sleep(chance.int(1, hurry));
        if (world.mono >= until) return;
        const id = this.#somebody();
        // Twice the same, or several at once, is what hurried people do.
        for (let n = chance.pick([1, 1, 1, 2]); n > 0; n--) void this.#act(id);
        // A workflow that is over is soon cleared away, with whoever still asks about it.
        const run = history.records.get(workflowId("w1"));
        if (run?.result && chance.happens(0.2)) void this.operate(run.row.id, { kind: "purge" });
      }
    } catch (cause) {
      failed(cause);
    }
  }

  /** Has something done, and sees to it that it was. */
  async operate(id: string, operation: Operation): Promise<void> {
    const { world, history } = this.#options, { operations } = history;
    const before: Before = operations.asks(id, operation);
    const owner = this.#options.route(id);
    const reply = await ask(this.#options, owner, (client) => client.operate(id, operation));
    world.log(`${this.#name} ${operation.kind} ${id.slice(-12)}: ${reply?.status ?? "no answer"}`);
    // Whoever lost its lease may know nothing of the last commits.
    if (reply && !owner?.mayBeStale) operations.answered(id, operation, { ...reply, before });
  }

  /** Sends a signal, and sees to it that it arrives. */
  async signal(target: string, id: Signal["id"]): Promise<void> {
    const { world, history } = this.#options;
    const text = `${this.#name}:${this.#signals++}`;
    const result = world.chance.happens(0.5)
      ? { kind: "value", value: bytesOf(text) } as const
      : { kind: "failure", failure: { code: 500, message: text } } as const;
    const { record } = history.operations.observe(target);
    const isAlive = record !== undefined && record.result === undefined;
    const owner = this.#options.route(target);
    const reply = await ask(this.#options, owner, async (client) => {
      await client.signal({ target, id, result });
      return "sent";
    });
    if (!reply || !isAlive || owner?.mayBeStale || record !== history.records.get(target)) return;
    const isHere = record.signals.has(text) || record.result !== undefined;
    must(isHere, () => `The signal "${text}" to "${target}" was lost`);
  }

  /** Asks for a result, and sees to it that it is true. */
  async read(id: string, wait: boolean): Promise<void> {
    const { history } = this.#options;
    const before = history.operations.observe(id);
    let leave = () => {};
    const owner = this.#options.route(id);
    const reply = await ask(this.#options, owner, async (client) => {
      if (!wait) return await client.output(id);
      return await client.attach(id, (call) => leave = call) ?? "unknown";
    });
    leave();
    if (reply === undefined) return;
    if (typeof reply === "object") return history.answered(id, reply);
    const { record } = before;
    if (
      owner?.mayBeStale || !record || record !== history.records.get(id) || history.isPast(record)
    ) {
      return;
    }
    const isTrue = reply === "notReady" ? !before.isFinished : before.isForgotten;
    must(isTrue || record.isForgotten, () => `"${id}" was "${reply}", and was ${before.status}`);
  }

  async #act(id: string): Promise<void> {
    const { world: { chance }, failed } = this.#options;
    const operation = this.#operation(id);
    try {
      const luck = chance.next();
      if (luck < 0.25) await this.signal(id, signalId(chance));
      else if (luck < 0.45) await this.read(id, chance.happens(0.6));
      else if (this.#mayAct(id, operation)) await this.operate(id, operation);
    } catch (cause) {
      failed(cause);
    }
  }

  /**
   * Attempts are numbered anew when an id comes back. So nobody purges an id that may come back
   * before all that its streams have said was heard, which it is when the result is durable.
   */
  #mayAct(id: string, { kind }: Operation): boolean {
    const record = this.#options.history.records.get(id);
    return kind !== "purge" || !record || record.result !== undefined ||
      (record.row.idempotencyKey === undefined && record.row.target.access !== "run");
  }

  #operation(id: string): Operation {
    const { chance, wall } = this.#options.world;
    const kind = chance.pick(OPERATIONS);
    const [deployment] = chance.pick(CHOICES);
    if (kind === "resume") return deployment ? { kind, deployment } : { kind };
    if (kind !== "restart") return { kind };
    const newId = siblingInvocationId(id, chance.bytes(16), wall);
    const from = chance.pick([0, 0, 1, 2, 3, 4, 6]);
    return deployment ? { kind, newId, from, deployment } : { kind, newId, from };
  }

  /** Mostly one who still lives. */
  #somebody(): string {
    const { world: { chance }, history } = this.#options;
    if (chance.happens(0.1)) return workflowId(chance.pick(["w1", "w2"]));
    const open = [...history.unfinished], all = [...history.records.keys()];
    if (open.length > 0 && chance.happens(0.6)) return chance.pick(open);
    return all.length > 0 && chance.happens(0.95) ? chance.pick(all) : NOBODY;
  }
}

const OPERATIONS = [
  ...["cancel", "cancel", "cancel", "kill", "pause", "pause", "pause", "resume", "resume"],
  ...["resume", "restart", "restart", "purge", "purgeJournal"],
] as readonly Operation["kind"][];

const CHOICES: readonly (readonly DeploymentChoice[])[] = [
  [],
  [],
  [{ kind: "latest" }],
  [{ kind: "keep" }],
  [{ kind: "deployment", id: "dp_1" }],
  [{ kind: "deployment", id: "dp_9" }],
];
