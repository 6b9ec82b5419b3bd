import type { Admin } from "kafkajs";
import { isExpression } from "../../src/kafka/source.ts";
import { pauseAligned } from "./aligned.ts";
import { type Client, clientOf, numberOf } from "./client.ts";
import { TopicConsumer } from "./consumer.ts";
import { DeadLetters } from "./dead_letter.ts";
import { Delivery, type Poison } from "./delivery.ts";
import { pause, within } from "./pause.ts";
import { type Starts, startsOf } from "./start_offsets.ts";
import type { SubscriptionTask } from "./subscription_task.ts";
import { findTopics } from "./topics.ts";
import { ADMIN_MS, withAdmin } from "./with_admin.ts";

const TOPIC_RETRY_MS = 500;
const REFRESH_MS = 5_000;
/** As long as the longest delay between two consumers. */
const STEADY_MS = 5_000;
const METADATA_MS = 300_000;
const METADATA_MIN_MS = 500;

export interface LifeOptions {
  readonly signal: AbortSignal;
  /** It works: the next failure is a first one. May be called several times. */
  readonly onSuccess: () => void;
}

/** Consumes until the signal, or rejects with what is in the way. */
export async function consume(task: SubscriptionTask, options: LifeOptions): Promise<void> {
  task.status.starting();
  const client = await clientOf(task.options, task.shared.tokens);
  const letters = new DeadLetters(client.kafka, task.id);
  try {
    const { signal } = options;
    const begin = await withAdmin(client, { signal }, (admin) => beginning(admin, task, signal));
    if (begin) await consumeTopics(task, { ...options, ...begin, client, letters });
  } finally {
    await letters.close();
    client.sockets.close();
  }
}

interface Begin {
  readonly topics: readonly string[];
  readonly starts: Starts;
}

/** Waits until there are topics. Undefined: the signal came first. */
async function beginning(
  admin: Admin,
  task: SubscriptionTask,
  signal: AbortSignal,
): Promise<Begin | undefined> {
  const { options, group, seen, createdAt } = task;
  while (!signal.aborted) {
    const found = await within("Asking for topics", ADMIN_MS, findTopics(admin, task));
    const { topics, problem } = found;
    seen.sawTopics(topics);
    if (problem === undefined) {
      const starts = startsOf(admin, { group, topics, options, seen, createdAt });
      return { topics, starts: await within("Asking for offsets", ADMIN_MS, starts) };
    }
    task.status.failed(problem);
    await pause(TOPIC_RETRY_MS, signal);
  }
  return undefined;
}

interface Consuming extends LifeOptions, Begin {
  readonly client: Client;
  readonly letters: DeadLetters;
}

async function consumeTopics(task: SubscriptionTask, life: Consuming): Promise<void> {
  const { signal } = life;
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const consumer = consumerOf(task, life, () => void joined(task, life, both));
  task.status.showing(() => consumer.feeds.all().map((feed) => feed.report()));
  task.retry = () => consumer.retry();
  try {
    const crash = consumer.crashed().then((cause) => {
      throw cause;
    });
    const stopped = new Promise<void>((resolve) => both.addEventListener("abort", () => resolve()));
    await Promise.race([
      consumer.start().then(() => stopped),
      crash,
      watch(task, life, consumer, both),
    ]);
    task.memberId = undefined;
  } catch (cause) {
    task.memberId = consumer.memberId;
    throw cause;
  } finally {
    ended.abort();
    await consumer.close();
  }
}

/** What failed before may join and fail again: it works when it has lasted for a while. */
async function joined(
  { status, shared }: SubscriptionTask,
  { onSuccess }: LifeOptions,
  ended: AbortSignal,
): Promise<void> {
  if (status.isFailing) await pause(STEADY_MS, ended);
  if (ended.aborted) return;
  onSuccess();
  status.running();
  shared.onChange();
}

function consumerOf(task: SubscriptionTask, life: Consuming, onJoin: () => void): TopicConsumer {
  const { status, shared, group, options, createdAt, memberId } = task;
  const delivery = deliveryOf(task, life);
  return new TopicConsumer({
    ...life,
    group,
    options,
    createdAt,
    memberId,
    deliver: (payload, feed) => delivery.deliver(payload, feed),
    onJoin,
    onChange: shared.onChange,
    onProblem: (message) => status.noticed(message),
    onCommitFailure: (message) => status.notCommitted(message),
  });
}

function deliveryOf(
  task: SubscriptionTask,
  { signal, client, letters }: Consuming,
): Delivery {
  return new Delivery({
    subscription: task.id,
    group: task.group,
    server: task.shared.server,
    signal,
    map: task.rules.map,
    isSkipped: task.rules.isSkipped,
    setAside: (poison) => setAside(task, letters, poison),
    endOf: (topic, partition) => endOf(client, signal, { topic, partition }),
    onProblem: (message) => task.status.noticed(message),
    onChange: task.shared.onChange,
  });
}

async function endOf(
  client: Client,
  signal: AbortSignal,
  { topic, partition }: { readonly topic: string; readonly partition: number },
): Promise<number> {
  const asked = { signal, withinMs: ADMIN_MS };
  const offsets = await withAdmin(client, asked, (admin) => admin.fetchTopicOffsets(topic));
  return Number(offsets.find((one) => one.partition === partition)?.high);
}

/** Follows `on.poison`. */
async function setAside(
  task: SubscriptionTask,
  letters: DeadLetters,
  poison: Poison,
): Promise<boolean> {
  const { topic, partition, message, why } = poison;
  const rule = task.rules.onPoison;
  const where = `offset ${message.offset} of partition ${partition} of "${topic}"`;
  if (rule.kind === "block") {
    task.status.noticed(`Record at ${where} cannot be delivered: ${why}`);
    return false;
  }
  if (rule.kind === "skip") {
    task.status.noticed(`Record at ${where} is skipped: ${why}`);
    return true;
  }
  try {
    await within("Writing a dead letter", ADMIN_MS, letters.write(rule.topic, poison));
    task.status.noticed(`Record at ${where} is written to "${rule.topic}": ${why}`);
    return true;
  } catch (cause) {
    const problem = (cause as Error).message;
    task.status.noticed(`Record at ${where} cannot be written to "${rule.topic}": ${problem}`);
    return false;
  }
}

/** Looks for other topics, and at ends that no records tell. Resolves when topics have changed. */
async function watch(
  task: SubscriptionTask,
  { client, topics }: Consuming,
  consumer: TopicConsumer,
  signal: AbortSignal,
): Promise<void> {
  const isOfMany = isExpression(task.topic);
  const given = numberOf(task.options, "topic.metadata.refresh.interval.ms", METADATA_MS);
  const everyMs = Math.max(METADATA_MIN_MS, given < 0 ? METADATA_MS : given);
  const stepMs = isOfMany ? Math.min(REFRESH_MS, everyMs) : REFRESH_MS;
  let lookedAt = Date.now();
  while (!signal.aborted) {
    await pauseAligned(stepMs, signal);
    if (signal.aborted) return;
    const isDue = isOfMany && Date.now() - lookedAt >= everyMs;
    const isUnclear = consumer.feeds.all().some(({ stoppedBy, position, end }) =>
      stoppedBy !== undefined || position === undefined || end === undefined
    );
    if (!isDue && !isUnclear) continue;
    if (isDue) lookedAt = Date.now();
    const ask = async (admin: Admin) => {
      if (isUnclear) await consumer.refresh(admin);
      return isDue ? (await findTopics(admin, task)).topics : topics;
    };
    // A broker that is away is noticed by the consumer as well.
    const now = await withAdmin(client, { signal, withinMs: ADMIN_MS }, ask).catch(() => topics);
    if (JSON.stringify(now) !== JSON.stringify(topics)) return;
  }
}
