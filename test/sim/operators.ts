import type { DeploymentChoice, Operation } from "../../src/engine/event.ts";
import type { Signal } from "../../src/model/command.ts";
import { siblingInvocationId } from "../../src/model/id.ts";
import { ask, type Asking } from "./asking.ts";
import { must } from "./must.ts";
import { NOBODY, workflowId } from "./names.ts";
import { signalId } from "./program.ts";
import { bytesOf } from "./spoken.ts";
import type { Before } from "./wishes.ts";

/** People who meddle with invocations, and who look at what becomes of them. */
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
        const run = history.stories.get(workflowId("w1"));
        if (run?.result && chance.happens(0.2)) void this.operate(run.row.id, { kind: "purge" });
      }
    } catch (cause) {
      failed(cause);
    }
  }

  /** Has something done, and sees to it that it was. */
  async operate(id: string, operation: Operation): Promise<void> {
    const { world, history } = this.#options, { wishes } = history;
    const before: Before = wishes.asks(id, operation);
    const seat = this.#options.route(id);
    const told = await ask(this.#options, seat, (client) => client.operate(id, operation));
    world.log(`${this.#name} ${operation.kind} ${id.slice(-12)}: ${told?.status ?? "no answer"}`);
    // Whoever lost its lease may know nothing of the last commits.
    if (told && !seat?.mayBeStale) wishes.answered(id, operation, { ...told, before });
  }

  /** Sends a signal, and sees to it that it arrives. */
  async signal(target: string, id: Signal["id"]): Promise<void> {
    const { world, history } = this.#options;
    const text = `${this.#name}:${this.#signals++}`;
    const result = world.chance.happens(0.5)
      ? { kind: "value", value: bytesOf(text) } as const
      : { kind: "failure", failure: { code: 500, message: text } } as const;
    const { story } = history.wishes.look(target);
    const isAlive = story !== undefined && story.result === undefined;
    const seat = this.#options.route(target);
    const told = await ask(this.#options, seat, async (client) => {
      await client.signal({ target, id, result });
      return "told";
    });
    if (!told || !isAlive || seat?.mayBeStale || story !== history.stories.get(target)) return;
    const isHere = story.signals.has(text) || story.result !== undefined;
    must(isHere, () => `The signal "${text}" to "${target}" was lost`);
  }

  /** Asks for a result, and sees to it that it is true. */
  async look(id: string, wait: boolean): Promise<void> {
    const { history } = this.#options;
    const before = history.wishes.look(id);
    let leave = () => {};
    const seat = this.#options.route(id);
    const told = await ask(this.#options, seat, async (client) => {
      if (!wait) return await client.output(id);
      return await client.attach(id, (call) => leave = call) ?? "unknown";
    });
    leave();
    if (told === undefined) return;
    if (typeof told === "object") return history.answered(id, told);
    const { story } = before;
    if (seat?.mayBeStale || !story || story !== history.stories.get(id) || history.isPast(story)) {
      return;
    }
    const isTrue = told === "notReady" ? !before.isFinished : before.isForgotten;
    must(isTrue || story.isForgotten, () => `"${id}" was "${told}", and was ${before.status}`);
  }

  async #act(id: string): Promise<void> {
    const { world: { chance }, failed } = this.#options;
    const operation = this.#operation(id);
    try {
      const luck = chance.next();
      if (luck < 0.25) await this.signal(id, signalId(chance));
      else if (luck < 0.45) await this.look(id, chance.happens(0.6));
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
    const story = this.#options.history.stories.get(id);
    return kind !== "purge" || !story || story.result !== undefined ||
      (story.row.idempotencyKey === undefined && story.row.target.access !== "run");
  }

  #operation(id: string): Operation {
    const { chance, wall } = this.#options.world;
    const kind = chance.pick(WISHES);
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
    const open = [...history.unfinished], all = [...history.stories.keys()];
    if (open.length > 0 && chance.happens(0.6)) return chance.pick(open);
    return all.length > 0 && chance.happens(0.95) ? chance.pick(all) : NOBODY;
  }
}

const WISHES = [
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
