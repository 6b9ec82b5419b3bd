import { setImmediate } from "node:timers";
import type { Admin } from "kafkajs";
import { type Expression, expressionOf } from "../../src/kafka/expression.ts";
import { isExpression } from "../../src/kafka/source.ts";

/** Which topics a source names now. */
export interface Found {
  readonly topics: readonly string[];
  /** Why there are none. */
  readonly problem?: string;
}

export interface Wanted {
  /** A name or an expression. */
  readonly topic: string;
  /** Where dead letters go. Undefined: nowhere. */
  readonly letterTopic: string | undefined;
}

/** Topics of the broker itself, which no expression means. */
const INTERNAL = /^__/;
/** What any broker takes as the name of a topic. */
const NAME = /^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/;

/** The expression that a topic of a source is, else undefined. Throws if it is none that can be used. */
function read(topic: string): Expression | undefined {
  if (!isExpression(topic)) return undefined;
  try {
    return expressionOf(topic);
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`"${topic}" is no regular expression that can be used: ${message}`);
  }
}

/** Other subscriptions send their heartbeats after so much time at the latest. */
const SLICE_MS = 5;

async function matching(expression: Expression, names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  let began = performance.now();
  for (const name of names) {
    if (performance.now() - began > SLICE_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      began = performance.now();
    }
    if (expression.test(name)) found.push(name);
  }
  return found;
}

/**
 * The topic of a source, or the topics that match its expression, but the one of its
 * dead letters, each of which would become another one. None is made.
 */
export async function findTopics(
  admin: Admin,
  { topic: name, letterTopic }: Wanted,
): Promise<Found> {
  const expression = read(name);
  if (!expression && !NAME.test(name)) {
    return { topics: [], problem: `"${name}" cannot be the name of a topic` };
  }
  const { topics } = await admin.fetchTopicMetadata();
  const names = topics.map((topic) => topic.name).sort();
  if (!expression) {
    if (names.includes(name)) return { topics: [name] };
    return { topics: [], problem: `Topic "${name}" does not exist, or may not be read` };
  }
  const others = names.filter((topic) => topic !== letterTopic && !INTERNAL.test(topic));
  const found = await matching(expression, others);
  if (found.length > 0) return { topics: found };
  return { topics: [], problem: `No topic matches "${name}"` };
}
