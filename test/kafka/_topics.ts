import kafkajs, {
  type Admin,
  type Kafka,
  type KafkaMessage,
  type Message,
  type Producer,
} from "kafkajs";
import { eventually } from "./_sidecar.ts";

/** Makes topics and records for a test. */
export class Topics {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly producer: Producer;

  constructor(kafka: Kafka) {
    this.kafka = kafka;
    this.admin = kafka.admin();
    const createPartitioner = kafkajs.Partitioners.DefaultPartitioner;
    this.producer = kafka.producer({ createPartitioner, allowAutoTopicCreation: false });
  }

  async create(
    topic: string,
    partitions = 1,
    settings: Record<string, string> = {},
  ): Promise<void> {
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
    await this.admin.createTopics({
      // The client fails when the broker does not know the leader of its own topic yet.
      waitForLeaders: false,
      topics: [{ topic, numPartitions: partitions, configEntries }],
    });
    await eventually(`a leader of ${topic}`, async () => {
      const found = await this.admin.fetchTopicMetadata({ topics: [topic] }).catch(() => undefined);
      const known = found?.topics[0]?.partitions.filter(({ leader }) => leader >= 0) ?? [];
      return known.length === partitions;
    });
  }

  /**
   * Writes texts as values, or whole messages: a request for each partition that they name. An answer that
   * refuses one partition, as of a new topic, has the client send all of the request once more.
   */
  async send(topic: string, ...messages: readonly (string | Message)[]): Promise<void> {
    await this.producer.connect();
    const all = messages.map((one) => typeof one === "string" ? { value: one } : one);
    for (const partition of new Set(all.map((one) => one.partition))) {
      const messages = all.filter((one) => one.partition === partition);
      await this.producer.send({ topic, messages });
    }
  }

  /** As `send`, with a producer that knows of new partitions. */
  async sendAnew(topic: string, ...messages: readonly Message[]): Promise<void> {
    const producer = this.kafka.producer();
    await producer.connect();
    await producer.send({ topic, messages: [...messages] });
    await producer.disconnect();
  }

  /** The first records of a topic, once there are so many. */
  async read(topic: string, count: number): Promise<readonly KafkaMessage[]> {
    const found: KafkaMessage[] = [];
    // It leaves once its last fetch has ended.
    const reader = this.kafka.consumer({ groupId: `reader-of-${topic}`, maxWaitTimeInMs: 100 });
    await reader.connect();
    await reader.subscribe({ topics: [topic], fromBeginning: true });
    await reader.run({ eachMessage: async ({ message }) => void found.push(message) });
    await eventually(`${count} records of ${topic}`, () => found.length >= count);
    await reader.disconnect();
    return found;
  }

  /** Offsets that the group has committed, by partition. */
  async committed(group: string, topic: string): Promise<number[]> {
    const [found] = await this.admin.fetchOffsets({ groupId: group, topics: [topic] });
    const sorted = found?.partitions.toSorted((a, b) => a.partition - b.partition) ?? [];
    return sorted.map(({ offset }) => Number(offset));
  }

  async state(group: string): Promise<string> {
    return (await this.admin.describeGroups([group])).groups[0]?.state ?? "";
  }

  async close(): Promise<void> {
    await Promise.all([this.admin.disconnect(), this.producer.disconnect()]);
  }
}
