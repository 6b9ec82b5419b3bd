import { Buffer } from "node:buffer";
import type { Letter, LettersBody } from "../../src/kafka/letter.ts";
import { hasLetters, type LetterRef } from "../../src/model/kafka.ts";
import { type Client, clientOf } from "./client.ts";
import { DeadLetters } from "./dead_letter.ts";
import type { Poison } from "./delivery.ts";
import { messageHeaders } from "./message_headers.ts";
import { pause, within } from "./pause.ts";
import type { ServerApi } from "./server_api.ts";
import type { SubscriptionTask } from "./subscription_task.ts";
import { ADMIN_MS } from "./with_admin.ts";

export interface CarrierOptions {
  readonly server: ServerApi;
  readonly tasks: ReadonlyMap<string, SubscriptionTask>;
  readonly signal: AbortSignal;
}

/** How often letters are asked for while a subscription may have some. */
const ASK_MS = 2_000;
/** And while none may: letters of subscriptions that are gone are left to the server. */
const ASK_RARELY_MS = 300_000;

/** Writes the records of invocations whose attempts are used up to dead letter topics (decision 053). */
export class LetterCarrier {
  readonly #options: CarrierOptions;
  /** Ends the present wait. */
  #wake: () => void = () => {};

  constructor(options: CarrierOptions) {
    this.#options = options;
  }

  /** The plan has changed: there may be letters from now on. */
  wake(): void {
    this.#wake();
  }

  /** Works until the signal. What it has written and not said by then is written again by another one. */
  async run(): Promise<void> {
    const { server, signal, tasks } = this.#options;
    let told: LettersBody = { written: [], returned: [] };
    while (!signal.aborted) {
      const letters = await server.letters(told, signal);
      if (letters) told = await this.#write(letters);
      const { written, returned } = told;
      if (letters && written.length > 0 && returned.length === 0) continue;
      const isAny = written.length > 0 || returned.length > 0 ||
        [...tasks.values()].some(({ assigned: { planned } }) => hasLetters(planned.options));
      await this.#wait(isAny ? ASK_MS : ASK_RARELY_MS);
    }
  }

  async #wait(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await pause(ms, AbortSignal.any([this.#options.signal, woken.signal]));
  }

  /** Answers which are written, and which are not: the server hands these out again. */
  async #write(letters: readonly Letter[]): Promise<LettersBody> {
    const { tasks, signal } = this.#options;
    const written = await Promise.all([...tasks].map(async ([id, task]) => {
      const own = letters.filter(({ subscription }) => subscription === id);
      return own.length > 0 ? await writeOf(task, own, signal) : [];
    }));
    const done = new Set(written.flat());
    const [own, returned] = [refsOf([...done]), letters.filter((letter) => !done.has(letter))];
    return { written: own, returned: refsOf(returned) };
  }
}

function refsOf(letters: readonly Letter[]): LetterRef[] {
  return letters.map(({ id, attempt }) => ({ id, attempt }));
}

/** Writes letters of one subscription, up to the first that cannot be. Answers those it has written. */
async function writeOf(
  task: SubscriptionTask,
  letters: readonly Letter[],
  signal: AbortSignal,
): Promise<Letter[]> {
  const rule = task.rules.onPoison;
  if (rule.kind !== "dead-letter") return [];
  const written: Letter[] = [];
  let client: Client | undefined, deadLetters: DeadLetters | undefined;
  try {
    client = await clientOf(task.options, task.shared.tokens);
    deadLetters = new DeadLetters(client.kafka, task.id);
    for (const letter of letters) {
      if (signal.aborted) break;
      const writing = deadLetters.write(rule.topic, poisonOf(letter));
      await within("Writing a dead letter", ADMIN_MS, writing);
      written.push(letter);
    }
  } catch (cause) {
    const { message } = cause as Error;
    task.status.noticed(`A dead letter cannot be written to "${rule.topic}": ${message}`);
  } finally {
    await deadLetters?.close();
    client?.sockets.close();
  }
  return written;
}

function poisonOf(letter: Letter): Poison {
  const { id, reason, at, topic, partition, offset, timestamp, key, value, headers } = letter;
  const bytes = (text: string | null) => text === null ? null : Buffer.from(text, "base64url");
  const message = {
    key: bytes(key),
    value: bytes(value),
    timestamp: String(timestamp),
    offset: String(offset),
    attributes: 0,
    headers: messageHeaders(
      headers.map(([name, text]) => [name, Buffer.from(text, "base64url")]),
    ),
  };
  return { topic, partition, message, why: reason, invocation: { id, failedAt: at } };
}
