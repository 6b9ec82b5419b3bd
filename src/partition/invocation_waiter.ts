import type { Reply } from "../engine/effect.ts";
import type { Failure } from "../errors.ts";
import type { Completed } from "../ports.ts";

/** The reply to a request, and the result of its invocation, if the caller waited for it. */
export interface ReplyAndResult {
  readonly reply: Reply;
  readonly completed?: Completed;
}

export interface InvocationWaiterOptions {
  /** Whether the reply is all that the caller waits for. */
  readonly isAll: (reply: Reply) => boolean;
  readonly resolve: (followed: ReplyAndResult) => void;
  readonly reject: (failure: Failure) => void;
  /** Called when this no longer waits for the result. */
  readonly forget: () => void;
}

/**
 * A request that waits for a reply and a result. It resolves only after the reply, even if the result
 * arrives earlier: a second submission of a workflow must not get the result of the first one.
 */
export class InvocationWaiter {
  readonly #options: InvocationWaiterOptions;
  #reply: Reply | undefined;
  #completed: Completed | undefined;

  constructor(options: InvocationWaiterOptions) {
    this.#options = options;
  }

  replied(reply: Reply): void {
    this.#reply = reply;
    if (!this.#options.isAll(reply)) return this.#settle();
    this.#options.resolve({ reply });
    this.#options.forget();
  }

  resolve(completed: Completed): void {
    this.#completed = completed;
    this.#settle();
  }

  reject(failure: Failure): void {
    this.#options.reject(failure);
  }

  #settle(): void {
    const [reply, completed] = [this.#reply, this.#completed];
    if (reply && completed) this.#options.resolve({ reply, completed });
  }
}
