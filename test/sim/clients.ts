import type { InvocationRequest } from "../../src/ports.ts";
import type { Seat } from "./seat.ts";
import { type Program, program } from "./program.ts";
import { ask, type Asking } from "./asking.ts";
import { must } from "./must.ts";
import { freshId, idempotentId, workflowId } from "./names.ts";
import { KEPT_MS, targetOf } from "./schema.ts";
import { toBytes } from "./spoken.ts";
import { isSame } from "./story.ts";
import type { World } from "./world.ts";

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
}

/** One who wants a handler run, and does not rest before it knows that it was. */
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
    const seat = this.#options.route(id);
    const accepted = await ask(this.#options, seat, (client) => {
      if (world.chance.happens(faults().requestTwice)) void this.#again(seat, request);
      return client.send(request);
    });
    if (!accepted) return false;
    history.accepted(id);
    must(accepted.id === id, () => `"${id}" was accepted as "${accepted.id}"`);
    const { status, target } = history.story(id).row, { startAt } = accepted;
    if (startAt !== undefined && status.kind === "scheduled") {
      // A workflow that had an end may have come again, for another client, in the same commit.
      const ends = history.wishes.count(id, "kill") + history.wishes.count(id, "cancel");
      const mayBeNew = target.access === "run" && ends > 0;
      must(startAt === status.at || mayBeNew, () => `"${id}" starts at another time than was told`);
    }
    return true;
  }

  async #call(): Promise<boolean> {
    const { world, history, faults } = this.#options;
    const { id, path } = this.plan, request = this.#request();
    let leave = () => {};
    const seat = this.#options.route(id);
    const completed = await ask(this.#options, seat, (client) => {
      if (world.chance.happens(faults().requestTwice)) void this.#again(seat, request);
      return client.call(request, (call) => leave = call);
    });
    // Who was answered need not say that it leaves.
    if (!completed || world.chance.happens(0.5)) leave();
    if (!completed) return false;
    // A workflow runs once; who asks again is told so, and not what became of it.
    const again = { kind: "failure", failure: { code: 409, message: "Previously accepted" } };
    if (targetOf(path).access === "run" && isSame(completed.result, again)) return true;
    history.answered(id, completed);
    return true;
  }

  /** The same request a second time, whose answer nobody needs. */
  async #again(seat: Seat | undefined, request: InvocationRequest): Promise<void> {
    if (request.fresh) return;
    await this.#options.world.sleep(this.#options.world.chance.int(0, 300));
    try {
      const answer = await ask(this.#options, seat, (client) => client.send(request));
      if (answer) this.#options.history.accepted(request.id);
    } catch (cause) {
      this.#options.failed(cause);
    }
  }

  #request(): InvocationRequest {
    const { id, name, kind, path, program, delayMs, retention } = this.plan;
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
      ...(this.#startAt === undefined ? {} : { startAt: this.#startAt }),
    };
  }
}

/** What one of a simulation's clients wants. `aims`: paths of handlers. */
export function plan(world: World, number: number, aims: readonly string[]): Plan {
  const { chance } = world;
  const path = chance.pick(aims);
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
    delayMs: kind !== "call" && chance.happens(0.3) ? chance.int(1, 900) : 0,
    retention: kept
      ? { resultMs: short, journalMs: short }
      : { resultMs: KEPT_MS, journalMs: chance.pick([KEPT_MS, 400]) },
  };
}
