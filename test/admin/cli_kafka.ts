import type { Step } from "./cli_script.ts";

/** Kafka clusters and subscriptions. No server asks a broker for any of this. */
export const KAFKA: readonly Step[] = [
  { run: "kafka-clusters list" },
  { run: "subscriptions list" },
  {
    run: "-y kafka-clusters create k bootstrap.servers=127.0.0.1:1 sasl.password=secret",
    says: ["k"],
  },
  { run: "kafka-clusters list", says: ["k"] },
  { run: "-y kafka-clusters create k bootstrap.servers=127.0.0.1:1", code: 1, says: ["409"] },
  { run: "-y kafka-clusters create other client.id=x", code: 1, says: ["bootstrap.servers"] },
  { run: "kafka-clusters describe k", says: ["127.0.0.1:1", "***"] },
  { run: "-y kafka-clusters patch k --set client.id=me", code: 1, says: ["sasl.password"] },
  {
    run: "-y kafka-clusters patch k --set client.id=me --set sasl.password=other",
    says: ["client.id"],
  },
  { run: "kafka-clusters describe k", says: ["me", "***"] },
  { run: "-y kafka-clusters patch k --unset client.id --unset sasl.password", says: ["k"] },
  {
    run: "-y kafka-clusters edit k",
    editor: "s/^bootstrap.servers.*/bootstrap.servers=127.0.0.1:2/",
    says: ["k"],
  },
  { run: "kafka-clusters describe nope", code: 1, says: ["404"] },
  {
    run: "-y subscriptions create kafka://k/topic service://Nope/greet",
    code: 1,
    says: ["META0009"],
  },
  {
    run: "-y subscriptions create kafka://nope/t service://Greeter/greet",
    code: 1,
    says: ["nope"],
  },
  {
    run: "-y subscriptions create amqp://k/t service://Greeter/greet",
    code: 1,
    says: ["META0009"],
  },
  {
    run: "-y subscriptions create kafka://k/topic service://Greeter/greet group.id=g client.id=c",
    says: ["kafka://k/topic"],
  },
  { run: "subscriptions list", says: ["$subscription", "kafka://k/topic"] },
  { run: "subscriptions list --source kafka://k/other" },
  { run: "subscriptions list --sink service://Greeter/greet", says: ["$subscription"] },
  { run: "subscriptions describe $subscription", says: ["group.id", "g"] },
  { run: "subscriptions describe sub_10000000000000000000000", code: 1, says: ["404"] },
  { run: "kafka-clusters describe k", says: ["$subscription"] },
  { run: "-y kafka-clusters delete k", code: 1, says: ["has 1 subscription"] },
  { run: "-y subscriptions delete $subscription", says: ["$subscription"] },
  { run: "-y subscriptions delete $subscription", code: 1, says: ["404"] },
  { run: "-y kafka-clusters delete k", says: ["k"] },
  { run: "-y kafka-clusters delete k", code: 1, says: ["404"] },
];
