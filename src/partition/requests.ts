import type { Reply } from "../engine/effect.ts";
import type { Operation } from "../engine/event.ts";
import type { Signal } from "../model/command.ts";
import type { StateEdit } from "../model/state_edit.ts";
import type {
  Accepted,
  Attached,
  Completed,
  InvocationRequest,
  Invocations,
  OnLeave,
  Operated,
} from "../ports.ts";
import type { Partition } from "./partition.ts";
import { acceptedOf, type Waiters } from "./waiters.ts";

/** Turns what the outside asks into events, and waits for what becomes of them. */
export class Requests implements Invocations {
  readonly #waiters: Waiters;
  readonly #admit: () => Partition;

  /** `admit`: the partition as it lives now. Throws `Failure` 503 when it takes nothing. */
  constructor(waiters: Waiters, admit: () => Partition) {
    this.#waiters = waiters;
    this.#admit = admit;
  }

  async send(request: InvocationRequest): Promise<Accepted> {
    const partition = this.#admit();
    const { token, reply } = this.#waiters.reply();
    partition.send({ type: "invoked", ...request, reply: token });
    return acceptedOf(await reply);
  }

  /** A fresh id can have no result yet, so its caller need not hear how it was taken. */
  async call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    const partition = this.#admit();
    if (request.fresh) {
      partition.send({ type: "invoked", ...request });
      return this.#waiters.result(request.id, onLeave);
    }
    let forget = () => {};
    const result = this.#waiters.result(request.id, (leave) => {
      forget = leave;
      onLeave?.(leave);
    });
    const { token, reply } = this.#waiters.reply();
    partition.send({ type: "invoked", ...request, reply: token });
    const answer = Promise.race([result, reply.then((reply) => answerOf(reply) ?? result)]);
    // Answered by the reply, nobody would ever tell the waiter for the result.
    answer.then(forget, forget);
    return answer;
  }

  async attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined> {
    const partition = this.#admit();
    let forget = () => {};
    const result = this.#waiters.result(id, (leave) => {
      forget = leave;
      onLeave?.(leave);
    });
    // Nobody may be left to hear that nothing came of it.
    result.catch(() => {});
    const { token, reply } = this.#waiters.reply();
    partition.send({ type: "asked", id, wait: true, reply: token });
    // Whoever leaves ends the wait for its result, and so this one too.
    const told = await Promise.race([reply, result.then(() => reply)]);
    if (told.result || !told.target) forget();
    if (!told.target) return undefined;
    const { target } = told;
    return { target, ...(answerOf(told) ?? await result) };
  }

  async output(id: string): Promise<Attached | "unknown" | "notReady"> {
    const partition = this.#admit();
    const { token, reply } = this.#waiters.reply();
    partition.send({ type: "asked", id, wait: false, reply: token });
    const told = await reply;
    const answer = answerOf(told);
    if (answer && told.target) return { target: told.target, ...answer };
    return told.status === "notReady" ? "notReady" : "unknown";
  }

  async signal(signal: Signal): Promise<void> {
    const partition = this.#admit();
    const { token, reply } = this.#waiters.reply();
    partition.send({ type: "signaled", signal, reply: token });
    await reply;
  }

  async editState(
    { service, key }: { readonly service: string; readonly key: string },
    edit: StateEdit,
  ): Promise<void> {
    const partition = this.#admit();
    const { token, reply } = this.#waiters.reply();
    partition.send({ type: "stateEdited", service, key, edit, reply: token });
    await reply;
  }

  async operate(id: string, operation: Operation): Promise<Operated> {
    const partition = this.#admit();
    const { token, reply } = this.#waiters.reply();
    partition.send({ type: "operated", id, operation, reply: token });
    return await reply;
  }
}

function answerOf({ result, expiresAt }: Reply): Completed | undefined {
  if (!result) return undefined;
  return expiresAt === undefined ? { result } : { result, expiresAt };
}
