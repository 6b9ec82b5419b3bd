import { assert } from "../assert.ts";
import type { Reply } from "../engine/effect.ts";
import type { Event, Operation } from "../engine/event.ts";
import type { Signal } from "../model/command.ts";
import type { StateEdit } from "../model/state_edit.ts";
import type {
  Accepted,
  Attached,
  Completed,
  Door,
  InvocationRequest,
  OnLeave,
  Operated,
  Parcel,
} from "../ports.ts";
import type { Partition } from "./partition.ts";
import { acceptedOf, type Waiters } from "./waiters.ts";

/** Turns what the outside asks into events, and waits for what becomes of them. */
export class Requests implements Door {
  readonly #waiters: Waiters;
  readonly #admit: () => Partition;

  /** `admit`: the partition as it lives now. Throws `Failure` 503 when it takes nothing. */
  constructor(waiters: Waiters, admit: () => Partition) {
    this.#waiters = waiters;
    this.#admit = admit;
  }

  async send(request: InvocationRequest): Promise<Accepted> {
    return acceptedOf(await this.#ask((reply) => ({ type: "invoked", ...request, reply })));
  }

  async deliver(parcel: Parcel): Promise<number> {
    const { heard } = await this.#ask((reply) => ({ type: "delivered", ...parcel, reply }));
    assert(heard !== undefined, "A partition says what it has heard");
    return heard;
  }

  /** A fresh id can have no result yet, so its caller need not hear how it was taken. */
  async call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    if (!request.fresh) return this.#callAgain(request, onLeave);
    this.#admit().send({ type: "invoked", ...request });
    return this.#waiters.result(request.id, onLeave);
  }

  async #callAgain(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    const { told, result, forget } = this.#askAndWait(request.id, onLeave, (reply) => (
      { type: "invoked", ...request, reply }
    ));
    // How it was taken comes first, even if the result of the first one is there before: to a second
    // submission of a workflow that result is no answer. Not taken, it hears why.
    const answer = told.then((reply) => answerOf(reply) ?? result);
    // Answered by the reply, nobody would ever tell the waiter for the result.
    answer.then(forget, forget);
    return await answer;
  }

  async attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined> {
    const { told, result, forget } = this.#askAndWait(id, onLeave, (reply) => (
      { type: "asked", id, wait: true, reply }
    ));
    // Whoever leaves ends the wait for its result, and so this one too.
    const reply = await Promise.race([told, result.then(() => told)]);
    if (reply.result || !reply.target) forget();
    if (!reply.target) return undefined;
    const { target } = reply;
    return { target, ...(answerOf(reply) ?? await result) };
  }

  async output(id: string): Promise<Attached | "unknown" | "notReady"> {
    const told = await this.#ask((reply) => ({ type: "asked", id, wait: false, reply }));
    const answer = answerOf(told);
    if (answer && told.target) return { target: told.target, ...answer };
    return told.status === "notReady" ? "notReady" : "unknown";
  }

  async signal(signal: Signal): Promise<void> {
    await this.#ask((reply) => ({ type: "signaled", signal, reply }));
  }

  async editState(
    { service, key }: { readonly service: string; readonly key: string },
    edit: StateEdit,
  ): Promise<void> {
    await this.#ask((reply) => ({ type: "stateEdited", service, key, edit, reply }));
  }

  operate(id: string, operation: Operation): Promise<Operated> {
    return this.#ask((reply) => ({ type: "operated", id, operation, reply }));
  }

  /** Offers an event, and waits for the reply to it. Rejects with `Failure` 503. */
  async #ask(event: (reply: number) => Event): Promise<Reply> {
    const partition = this.#admit();
    const { token, reply } = this.#waiters.reply();
    partition.send(event(token));
    return await reply;
  }

  /** As `#ask`, of an invocation whose result is waited for at the same time, until `forget`. */
  #askAndWait(
    id: string,
    onLeave: OnLeave | undefined,
    event: (reply: number) => Event,
  ): { told: Promise<Reply>; result: Promise<Completed>; forget: () => void } {
    let forget = () => {};
    const result = this.#waiters.result(id, (leave) => {
      forget = leave;
      onLeave?.(leave);
    });
    // Nobody may be left to hear that nothing came of it.
    result.catch(() => {});
    const told = this.#ask(event);
    told.catch(() => forget());
    return { told, result, forget: () => forget() };
  }
}

function answerOf({ result, expiresAt }: Reply): Completed | undefined {
  if (!result) return undefined;
  return expiresAt === undefined ? { result } : { result, expiresAt };
}
