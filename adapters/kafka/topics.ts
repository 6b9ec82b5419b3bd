import type { Admin } from "kafkajs";

/** Which topics a source names now. */
export interface Found {
  readonly topics: readonly string[];
  /** Why there are none. */
  readonly problem?: string;
}

/** Topics of the broker itself, which no expression means. */
const INTERNAL = /^__/;
/** What any broker takes as the name of a topic. */
const NAME = /^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/;

/** The expression of a source that begins with `^`, else undefined. Throws if it is none. */
export function expressionOf(source: string): RegExp | undefined {
  const text = decoded(source);
  if (!text.startsWith("^")) return undefined;
  try {
    return new RegExp(text);
  } catch {
    throw new Error(`"${text}" is no regular expression`);
  }
}

/** The topic of a source, or the topics that match its expression. None is made. */
export async function findTopics(admin: Admin, source: string): Promise<Found> {
  const name = decoded(source);
  const expression = expressionOf(source);
  if (!expression && !NAME.test(name)) {
    return { topics: [], problem: `"${name}" cannot be the name of a topic` };
  }
  const { topics } = await admin.fetchTopicMetadata();
  const names = topics.map((topic) => topic.name).sort();
  if (!expression) {
    if (names.includes(name)) return { topics: [name] };
    return { topics: [], problem: `Topic "${name}" does not exist, or may not be read` };
  }
  const matching = names.filter((topic) => expression.test(topic) && !INTERNAL.test(topic));
  if (matching.length > 0) return { topics: matching };
  return { topics: [], problem: `No topic matches "${name}"` };
}

/** Addresses may have `^` and the like percent-encoded. */
function decoded(source: string): string {
  try {
    return decodeURIComponent(source);
  } catch {
    return source;
  }
}
