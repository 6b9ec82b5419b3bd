// Writes six readings of two sensors to the topic.
import { Kafka } from "kafkajs";

const kafka = new Kafka({ brokers: ["127.0.0.1:9092"] });
const [admin, producer] = [kafka.admin(), kafka.producer()];
const reading = (key: string, celsius: number) => ({ key, value: JSON.stringify({ celsius }) });

await admin.connect();
await admin.createTopics({ topics: [{ topic: "readings" }] });
await admin.disconnect();
await producer.connect();
await producer.send({
  topic: "readings",
  messages: [
    ...[19, 23, 21].map((celsius) => reading("attic", celsius)),
    ...[8, 9, 7].map((celsius) => reading("cellar", celsius)),
  ],
});
await producer.disconnect();
