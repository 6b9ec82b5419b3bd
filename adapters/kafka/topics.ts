import type { Admin } from "kafkajs";
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

/** The expression that a topic of a source is, else undefined. Throws if it is none. */
function expressionOf(topic: string): RegExp | undefined {
  if (!isExpression(topic)) return undefined;
  try {
    return new RegExp(topic);
  } catch {
    throw new Error(`"${topic}" is no regular expression`);
  }
}

/**
 * The topic of a source, or the topics that match its expression, but the one of its
 * dead letters, each of which would become another one. None is made.
 */
export async function findTopics(
  admin: Admin,
  { topic: name, letterTopic }: Wanted,
): Promise<Found> {
  const expression = expressionOf(name);
  if (!expression && !NAME.test(name)) {
    return { topics: [], problem: `"${name}" cannot be the name of a topic` };
  }
  const { topics } = await admin.fetchTopicMetadata();
  const names = topics.map((topic) => topic.name).sort();
  if (!expression) {
    if (names.includes(name)) return { topics: [name] };
    return { topics: [], problem: `Topic "${name}" does not exist, or may not be read` };
  }
  const matching = names.filter((topic) =>
    topic !== letterTopic && expression.test(topic) && !INTERNAL.test(topic)
  );
  if (matching.length > 0) return { topics: matching };
  return { topics: [], problem: `No topic matches "${name}"` };
}
