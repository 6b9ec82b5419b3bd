import type { InvocationRequest } from "../../src/ports.ts";
import type { PartitionOwner } from "./partition_owner.ts";
import { AIMS, type Program, program } from "./program.ts";
import { ask, type Asking } from "./asking.ts";
import { LIMIT_KEYS, SCOPES } from "./controllers.ts";
import type { Limits } from "./faults.ts";
import { must } from "./must.ts";
import { freshId, idempotentId, workflowId } from "./names.ts";
import { KEPT_MS, targetOf } from "./schema.ts";
import { toBytes } from "./spoken.ts";
import { isSame } from "./invocation_record.ts";
import type { World } from "./world.ts";

/** More places to go than `AIMS`, each once or twice. */
export const ALL_AIMS = [
  ...AIMS,
  ...["flow/w1/run", "flow/w1/run", "flow/w2/run", "flow/w1/ask", "flow/w1/ask", "flow/w2/ask"],
  ...["brittle/pause", "icebox/i/put"],
];

/**
 * `call`, `send` and `both` repeat themselves with the same id until they are answered; `once` has
 * an id drawn just now, and so cannot repeat itself.
 */
export type Kind = "call" | "send" | "both" | "once";

export interface Plan {
  /** What programs call it. */
  readonly name: string;
  readonly id: string;
  readonly kind: Kind;
  readonly path: string;
  readonly program: Program;
  readonly delayMs: number;
  readonly retention: InvocationRequest["retention"];
  readonly limitKey: string | undefined;
  readonly priority: number | undefined;
}

/** A client that requests an invocation, and retries until it knows that it ran. */
export class Client {
  readonly plan: Plan;
  isDone = false;
  readonly #options: Asking;
  #startAt: number | undefined;

  constructor(plan: Plan, options: Asking) {
    this.plan = plan;
    this.#options = options;
  }

  async live(): Promise<void> {
    const { kind } = this.plan;
    try {
      if (kind !== "call" && kind !== "once") await this.#until(() => this.#send());
      if (kind === "call" || kind === "both") await this.#until(() => this.#call());
      if (kind === "once") await this.#call();
      this.isDone = true;
    } catch (cause) {
      this.#options.failed(cause);
    }
  }

  async #until(ask: () => Promise<boolean>): Promise<void> {
    const { world } = this.#options;
    while (!await ask()) await world.sleep(world.chance.int(10, 400));
  }

  async #send(): Promise<boolean> {
    const { world, history, faults } = this.#options;
    const { id } = this.plan, request = this.#request();
    const owner = this.#options.route(id);
    const accepted = await ask(this.#options, owner, (client) => {
      if (world.chance.happens(faults().requestTwice)) void this.#again(owner, request);
      return client.send(request);
    });
    if (!accepted) return false;
    history.accepted(id);
    must(accepted.id === id, () => `"${id}" was accepted as "${accepted.id}"`);
    const { status, target } = history.record(id).row, { startAt } = accepted;
    if (startAt !== undefined && status.kind === "scheduled") {
      // A workflow that had an end may have come again, for another client, in the same commit.
      const ends = history.operations.count(id, "kill") + history.operations.count(id, "cancel");
      const mayBeNew = target.access === "run" && ends > 0;
      must(startAt === status.at || mayBeNew, () => `"${id}" starts at another time than was told`);
    }
    return true;
  }

  async #call(): Promise<boolean> {
    const { world, history, faults } = this.#options;
    const { id, path } = this.plan, request = this.#request();
    let leave = () => {};
    const owner = this.#options.route(id);
    const completed = await ask(this.#options, owner, (client) => {
      if (world.chance.happens(faults().requestTwice)) void this.#again(owner, request);
      return client.call(request, (call) => leave = call);
    });
    // Who was answered need not say that it leaves.
    if (!completed || world.chance.happens(0.5)) leave();
    if (!completed) return false;
    // A workflow runs once: a second request is refused, and does not get the result.
    const again = { kind: "failure", failure: { code: 409, message: "Previously accepted" } };
    if (targetOf(path).access === "run" && isSame(completed.result, again)) return true;
    history.answered(id, completed);
    return true;
  }

  /** The same request a second time, whose answer is ignored. */
  async #again(owner: PartitionOwner | undefined, request: InvocationRequest): Promise<void> {
    if (request.fresh) return;
    await this.#options.world.sleep(this.#options.world.chance.int(0, 300));
    try {
      const answer = await ask(this.#options, owner, (client) => client.send(request));
      if (answer) this.#options.history.accepted(request.id);
    } catch (cause) {
      this.#options.failed(cause);
    }
  }

  #request(): InvocationRequest {
    const { id, name, kind, path, program, delayMs, retention, limitKey, priority } = this.plan;
    const fresh = kind === "once";
    if (delayMs > 0 && this.#startAt === undefined) {
      this.#startAt = this.#options.world.wall + delayMs;
      // Of several runs of a workflow any may have been the first.
      if (targetOf(path).access !== "run") this.#options.history.delays(id, this.#startAt);
    }
    return {
      id,
      fresh,
      target: targetOf(path),
      headers: [],
      value: toBytes(program),
      origin: { by: "ingress" },
      retention,
      ...(fresh ? {} : { idempotencyKey: name }),
      ...(limitKey === undefined ? {} : { limitKey }),
      ...(priority === undefined ? {} : { priority }),
      ...(this.#startAt === undefined ? {} : { startAt: this.#startAt }),
    };
  }
}

const PRIORITIES = [0, 1, 3, 5, 9] as const;

/** What a client may want. */
export interface PlanOptions {
  readonly number: number;
  /** Paths of handlers. */
  readonly aims: readonly string[];
  readonly limits: Pick<Limits, "isControlled" | "alike" | "together">;
}

/** What one of a simulation's clients wants. */
export function plan(world: World, { number, aims, limits }: PlanOptions): Plan {
  const { chance } = world, { isControlled, alike, together } = limits;
  if (isControlled && chance.happens(together)) return planTogether(world, number);
  const isAlike = isControlled && chance.happens(alike);
  const aim = isAlike ? "greeter/hi" : chance.pick(aims);
  const isScoped = isAlike || isControlled && !aim.startsWith("flow/") && chance.happens(0.7);
  const path = isScoped ? `${isAlike ? "a" : chance.pick(SCOPES)}:${aim}` : aim;
  const kind: Kind = chance.pick(["call", "call", "send", "both", "once"] as const);
  const workflow = path.startsWith("flow/") && path.endsWith("/run");
  const short = chance.pick([KEPT_MS, 1_500, 300]);
  const kept = kind === "once" && !workflow;
  const name = `c${number}`;
  const own = kind === "once" ? freshId(world, path) : idempotentId(path, name);
  return {
    name,
    id: workflow ? workflowId(path.split("/")[1] ?? "") : own,
    kind: workflow && kind === "once" ? "call" : kind,
    path,
    program: program(chance, path, 2),
    limitKey: isScoped && !isAlike && chance.pick(LIMIT_KEYS) || undefined,
    priority: isControlled && !isAlike && chance.happens(0.5) ? chance.pick(PRIORITIES) : undefined,
    delayMs: kind !== "call" && chance.happens(0.3) ? chance.int(1, 900) : 0,
    retention: kept
      ? { resultMs: short, journalMs: short }
      : { resultMs: KEPT_MS, journalMs: chance.pick([KEPT_MS, 400]) },
  };
}

/** One of those that fill some queues of one scope. */
function planTogether(world: World, number: number): Plan {
  const { chance } = world, path = "a:greeter/hi", name = `c${number}`;
  return {
    name,
    id: idempotentId(path, name),
    kind: chance.pick(["call", "send"] as const),
    path,
    program: program(chance, path, 2),
    limitKey: chance.pick(["", "k", "j"]) || undefined,
    priority: chance.pick([4, 4, 0, 9]),
    delayMs: 0,
    retention: { resultMs: KEPT_MS, journalMs: KEPT_MS },
  };
}
