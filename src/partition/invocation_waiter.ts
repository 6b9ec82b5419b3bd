import type { Reply } from "../engine/effect.ts";
import type { Failure } from "../errors.ts";
import type { Completed } from "../ports.ts";

/** How a request was taken, and the result of the invocation it is about, if that was waited for. */
export interface ReplyAndResult {
  readonly reply: Reply;
  readonly completed?: Completed;
}

export interface InvocationWaiterOptions {
  /** Whether nothing is to be waited for after this reply. */
  readonly isAll: (reply: Reply) => boolean;
  readonly resolve: (followed: ReplyAndResult) => void;
  readonly reject: (failure: Failure) => void;
  /** Nobody waits for the result any more. */
  readonly forget: () => void;
}

/**
 * Somebody who waits for two things. How it was taken comes first, even if the result is there before:
 * to a second submission of a workflow the result of the first one is no answer.
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
