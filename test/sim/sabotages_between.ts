import type { Sabotage } from "./sabotage.ts";

const APPLY = "for (const message of fresh) apply(turn, message);";
const COUNT = 'if (known < messages.length) turn.put("peer", { ...peer, heard });';

/** Broken messages between partitions. Each is looked for where there are three. */
export const SABOTAGES_BETWEEN: readonly Sabotage[] = [
  {
    name: "a duplicate batch is applied again",
    file: "engine/outbox.ts",
    find: "messages.slice(known);",
    replace: "messages;",
  },
  {
    name: "received messages are not counted",
    file: "engine/outbox.ts",
    find: COUNT,
    replace: "",
  },
  {
    name: "a batch is applied after its row is written",
    file: "engine/outbox.ts",
    find: `  ${APPLY}\n`,
    replace: `  ${APPLY}\n  ${COUNT}\n`,
  },
  {
    name: "messages of one batch come in another order",
    file: "engine/outbox.ts",
    find: APPLY,
    replace: "for (const message of [...fresh].reverse()) apply(turn, message);",
  },
  {
    name: "the last message of a batch is not applied",
    file: "engine/outbox.ts",
    find: APPLY,
    replace: "for (const message of fresh.slice(0, -1)) apply(turn, message);",
  },
  {
    name: "more is acknowledged than was received",
    file: "engine/outbox.ts",
    find: 'status: "done", heard });',
    replace: 'status: "done", heard: heard + 1 });',
  },
  {
    name: "one row too many is dropped",
    file: "engine/outbox.ts",
    find: "seq <= last;",
    replace: "seq <= last + 1;",
  },
  {
    name: "acknowledged messages are kept",
    file: "engine/outbox.ts",
    find: '    turn.drop("outbox", { from, to, seq, message: GONE });\n',
    replace: "    void [from, to, GONE];\n",
  },
  {
    name: "messages are not counted",
    file: "engine/outbox.ts",
    find: '  turn.put("peer", { ...peer, sent: seq });\n',
    replace: "",
  },
  {
    name: "a sent message resets the received count",
    file: "engine/outbox.ts",
    find: "{ ...peer, sent: seq }",
    replace: "{ ...peer, sent: seq, heard: 0 }",
  },
  {
    name: "a message for another partition is applied here",
    file: "engine/outbox.ts",
    find: "if (to === partition) apply",
    replace: "if (to >= 0) apply",
  },
  {
    name: "a message for this partition is sent",
    file: "engine/outbox.ts",
    find: "if (to === partition) apply",
    replace: "if (to < 0) apply",
  },
  {
    name: "messages are written and not sent",
    file: "engine/outbox.ts",
    find: '  turn.emit({ type: "forward", to, seq, message });\n',
    replace: "",
  },
  {
    name: "results for other partitions are lost",
    file: "engine/outbox.ts",
    find: "else post(turn, to, message);",
    replace: 'else if (message.type !== "answered") post(turn, to, message);',
  },
  {
    name: "calls in other partitions are not killed",
    file: "engine/lifecycle/killed.ts",
    find: 'deliver(turn, { type: "killed", id: child });',
    replace: "void [deliver, child];",
  },
  {
    name: "calls in other partitions are read here",
    file: "engine/lifecycle/killed.ts",
    find: "!turn.isLocal(child);",
    replace: "turn.isLocal(child) && false;",
  },
  {
    name: "ids are divided into partitions differently",
    file: "model/ring.ts",
    find: "getUint32(4, true)",
    replace: "getUint32(0, true)",
  },
  {
    name: "messages are sent before they are durable",
    file: "partition/commits.ts",
    find: "    if (this.#onHandedOver.length > 0) this.#tellHandedOver();\n",
    replace:
      '    this.#options.release(pending.effects.filter(({ type }) => type === "forward"));\n',
  },
  {
    name: "batches are acknowledged before they are durable",
    file: "partition/commits.ts",
    find: "    if (this.#onHandedOver.length > 0) this.#tellHandedOver();\n",
    replace: '    this.#options.release(pending.effects.filter((one) => "heard" in one));\n',
    under: { batchLost: 0.1, commitMs: 150 },
  },
  {
    name: "messages of the last process are not read",
    file: "partition/outbox_sender.ts",
    find: "      for (const row of page) this.#route(row.to).found(row);\n",
    replace: "",
  },
  {
    name: "a new message goes before those of the last process",
    file: "partition/outbox_sender.ts",
    find: "#isOpening = true;",
    replace: "#isOpening = false;",
    under: {
      batchLost: 0.06,
      ackLost: 0.06,
      outboxBatchLost: 0.9,
      loadMs: 300,
      commitMs: 2,
      crash: 0,
      isFleet: false,
      residentBytesMax: 1e9,
    },
  },
  {
    name: "a lost batch counts as delivered",
    file: "partition/outbox_route.ts",
    find: "      cause = reason;\n",
    replace: "      cause = reason;\n      heard = Infinity;\n",
  },
  {
    name: "a lost batch is not sent again",
    file: "partition/outbox_route.ts",
    find: "return await this.#failed(cause);",
    replace: "return await new Promise(() => {});",
  },
  {
    name: "an acknowledgement is not sent to the engine",
    file: "partition/outbox_route.ts",
    find: "    acknowledged(this.#to, { first, last });\n",
    replace: "    void acknowledged;\n",
  },
  {
    name: "a batch begins with the second message",
    file: "partition/outbox_route.ts",
    find: "const messages = nextBatchOf(this.#queue);",
    replace: "const messages = nextBatchOf(this.#queue.slice(-2));",
  },
  {
    name: "messages are not read at boot",
    file: "partition/host.ts",
    find: "if (partitions > 1) await life.outboxSender.open();",
    replace: "void partitions;",
  },
];
