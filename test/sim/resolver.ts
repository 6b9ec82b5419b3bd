import { type Awaiting, letterSinceOf } from "../../src/model/invocation.ts";
import { ask, type Asking } from "./asking.ts";
import { freshId } from "./names.ts";
import { Operator } from "./operators.ts";
import { targetOf } from "./schema.ts";
import { toBytes } from "./spoken.ts";
import type { InvocationRecord } from "./invocation_record.ts";
import { leavesOf } from "./tree.ts";

const ROUND_MS = 150;
/** For how long an invocation may wait for another one before both count as a deadlock. */
const DEADLOCK_MS = 3_000;

/**
 * Lets everything finish once the faults are over: resumes or kills paused invocations, and acts for
 * the operators and callers that invocations wait for. It does nothing else, so an invocation that the
 * server loses stays lost.
 */
export class Resolver {
  readonly #options: Asking;
  readonly #operator: Operator;
  /** Since when, and with which attempt, an invocation waits for another one. */
  readonly #waiting = new Map<string, { attempt: number; since: number }>();
  readonly #resumed = new Set<string>();
  readonly #helped = new Map<string, number>();

  constructor(options: Asking) {
    this.#options = options;
    this.#operator = new Operator("resolver", options);
  }

  async live(isDone: () => boolean): Promise<void> {
    const { world, history, failed } = this.#options;
    try {
      while (!isDone()) {
        await Promise.all([...history.unfinished].map((id) => this.#help(history.record(id))));
        await world.sleep(ROUND_MS);
      }
    } catch (cause) {
      failed(cause);
    }
  }

  async #help({ row, spoken }: InvocationRecord): Promise<void> {
    const { id, status, target, attempt } = row;
    // A letter that is written ends it.
    if (letterSinceOf(row) !== undefined) return;
    if (status.kind === "paused") return this.#wake(id);
    if (status.kind !== "suspended" || !this.#mayHelp(id, attempt)) return;
    for (const key of leavesOf(status.awaiting)) {
      const command = key[0] === "c" ? spoken.get(Number(key.slice(1))) : undefined;
      if (key[0] === "n") await this.#operator.signal(id, { kind: "named", name: key.slice(1) });
      else if (key[0] === "s" && key !== "s1") {
        await this.#operator.signal(id, { kind: "signal", index: Number(key.slice(1)) });
      } else if (command?.is.startsWith("getPromise")) {
        await this.#keep(target.key ?? "", command.key ?? "");
      }
    }
    if (this.#isInCircle(id, attempt) && asksFor(status.awaiting, spoken)) {
      const kind = this.#resumed.has(`circle ${id}`) ? "kill" : "cancel";
      this.#resumed.add(`circle ${id}`);
      await this.#operator.operate(id, { kind });
    }
  }

  /** Once with hope, then without. */
  async #wake(id: string): Promise<void> {
    const kind = this.#resumed.has(id) || this.#options.world.chance.happens(0.3)
      ? "kill"
      : "resume";
    this.#resumed.add(id);
    await this.#operator.operate(id, { kind });
  }

  /** Who hangs on some wait of its own is not helped again before it has moved. */
  #mayHelp(id: string, attempt: number): boolean {
    const times = this.#helped.get(`${id} ${attempt}`) ?? 0;
    this.#helped.set(`${id} ${attempt}`, times + 1);
    return times < 40;
  }

  #isInCircle(id: string, attempt: number): boolean {
    const { mono } = this.#options.world, known = this.#waiting.get(id);
    if (known?.attempt === attempt) return mono - known.since > DEADLOCK_MS;
    this.#waiting.set(id, { attempt, since: mono });
    return false;
  }

  async #keep(key: string, name: string): Promise<void> {
    const { world } = this.#options, { chance } = world;
    const isBroken = chance.happens(0.5);
    const program = [{ do: "keep", name, isBroken }];
    const path = `flow/${key}/ask`, id = freshId(world, path);
    await ask(this.#options, this.#options.route(id), (client) =>
      client.send({
        id,
        fresh: true,
        target: targetOf(path),
        headers: [],
        value: toBytes(program),
        origin: { by: "ingress" },
        retention: { resultMs: 1_000, journalMs: 1_000 },
      }));
  }
}

/** Whether an invocation waits for the result of another one that it did not call. */
function asksFor(awaiting: Awaiting, spoken: InvocationRecord["spoken"]): boolean {
  return leavesOf(awaiting).some((key) =>
    key[0] === "c" && spoken.get(Number(key.slice(1)))?.is.startsWith("attach")
  );
}
