import kafkajs, { type Kafka, type Producer } from "kafkajs";
import { OWN } from "../../src/names.ts";
import type { Poison } from "./delivery.ts";
import { headersOf, messageHeaders } from "./message_headers.ts";
import { within } from "./pause.ts";

const ALL_REPLICAS = -1;
const NONE = -1;
const CLOSE_MS = 1_000;

/** Writes records that cannot be delivered to another topic of their cluster. */
export class DeadLetters {
  readonly #kafka: Kafka;
  readonly #subscription: string;
  #producer: Promise<Producer> | undefined;

  constructor(kafka: Kafka, subscription: string) {
    this.#kafka = kafka;
    this.#subscription = subscription;
  }

  /**
   * Writes the record as it is, with headers that say why, from where and when. A topic that does not
   * exist is not made. After a crash the same record may come a second time.
   */
  async write(topic: string, poison: Poison): Promise<void> {
    const { key, value, timestamp } = poison.message;
    const headers = messageHeaders(headersOf(poison.message));
    const message = { key, value, timestamp, headers: { ...headers, ...this.#about(poison) } };
    const producer = await (this.#producer ??= this.#connect());
    const sent = await producer.send({ topic, acks: ALL_REPLICAS, messages: [message] });
    // kafkajs leaves out what it has no partition for, and says nothing.
    const isWritten = sent.some(({ baseOffset, errorCode }) =>
      errorCode === 0 && Number(baseOffset ?? NONE) !== NONE
    );
    if (!isWritten) throw new Error(`Topic "${topic}" did not take the record`);
  }

  #about({ topic, partition, message, why, invocation }: Poison): Record<string, string> {
    const said = {
      reason: why,
      subscription: this.#subscription,
      topic,
      partition: String(partition),
      offset: message.offset,
      at: new Date(invocation?.failedAt ?? Date.now()).toISOString(),
      ...(invocation && { invocation: invocation.id }),
    };
    const named = Object.entries(said).map(([name, text]) => [`${OWN}.dead-letter.${name}`, text]);
    return Object.fromEntries(named);
  }

  async #connect(): Promise<Producer> {
    const producer = this.#kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await producer.connect().catch((cause) => {
      this.#producer = undefined;
      throw cause;
    });
    return producer;
  }

  /** Resolves in time, whatever the broker does. */
  async close(): Promise<void> {
    const closing = async () => await (await this.#producer)?.disconnect();
    await within("Disconnecting", CLOSE_MS, closing()).catch(() => {});
  }
}
