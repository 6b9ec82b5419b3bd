import { type Letter, letterOf, type LettersBody } from "../../kafka/letter.ts";
import { hasLetters, type OwedLetter, type Subscription } from "../../model/kafka.ts";
import type { LettersRequest } from "../../ports.ts";

export interface DeadLettersOptions {
  /** Asks all partitions. Rejects with `Failure` 503. */
  readonly exchange: (request: LettersRequest) => Promise<readonly OwedLetter[]>;
  readonly subscriptions: () => readonly Subscription[];
}

/** Bytes of the values of letters in one answer, or those of one letter of each partition. */
const ANSWER_BYTES = 4 * 1024 * 1024;

/** Hands dead letters that are owed to sidecars, and has those fail that are written (decision 053). */
export class DeadLetters {
  readonly #options: DeadLettersOptions;

  constructor(options: DeadLettersOptions) {
    this.#options = options;
  }

  /**
   * Notes letters that are written or returned, and answers those that are to be written. Those of subscriptions that have no
   * dead letter topic any more are not written: their invocations fail at once. Rejects with `Failure`
   * 503: then any part of it may have been done, and it can be asked again.
   */
  async exchange(told: LettersBody): Promise<readonly Letter[]> {
    const { exchange, subscriptions } = this.#options;
    const found = await exchange({ ...told, bytesMax: ANSWER_BYTES });
    const wanted = new Set(
      subscriptions().filter(({ options }) => hasLetters(options)).map(({ id }) => id),
    );
    const isWanted = ({ subscription }: OwedLetter) => wanted.has(subscription);
    const unwanted = found.filter((one) => !isWanted(one));
    if (unwanted.length > 0) {
      const refs = unwanted.map(({ id, attempt }) => ({ id, attempt }));
      // What is handed out now stays claimed for a while, and comes again.
      await exchange({ written: refs, returned: [], bytesMax: 0 });
    }
    return found.filter(isWanted).map(letterOf);
  }
}
