import type { TopicPartitionOffsetAndMetadata as Offset } from "kafkajs";
import type { Behind, Feeds } from "./feeds.ts";

export interface CommitsOptions {
  readonly feeds: Pick<Feeds, "uncommitted">;
  /** Has the broker keep offsets of the group. */
  readonly send: (offsets: Offset[]) => Promise<void>;
  /** The broker does not keep them, which stops nothing. */
  readonly onFailure: (message: string) => void;
}

/** The group gives partitions anew, and the next commit is of those that stay. */
const REBALANCING: ReadonlySet<unknown> = new Set([
  "REBALANCE_IN_PROGRESS",
  "ILLEGAL_GENERATION",
  "UNKNOWN_MEMBER_ID",
]);

/**
 * Tells the broker what is durable: for tools that show the lag of groups, and for a start without the
 * server's offsets. Records are told from those that came before by the server alone.
 */
export class Commits {
  readonly #options: CommitsOptions;
  #underWay: Promise<void> | undefined;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  /** What fails now is told the next time. Never rejects. One commit is under way at a time. */
  async now(): Promise<void> {
    await (this.#underWay ??= this.#commit().finally(() => this.#underWay = undefined));
  }

  /** As `now`, with what came since the commit that is under way. */
  async last(): Promise<void> {
    await this.#underWay;
    await this.now();
  }

  async #commit(): Promise<void> {
    const behind = this.#options.feeds.uncommitted();
    if (behind.length === 0) return;
    try {
      await this.#options.send(behind.map(offsetOf));
      for (const { feed, position } of behind) feed.committed = position;
    } catch (cause) {
      if (!isRebalancing(cause)) this.#options.onFailure(problemOf(cause));
    }
  }
}

function offsetOf({ topic, partition, position }: Behind): Offset {
  return { topic, partition, offset: String(position) };
}

/** kafkajs wraps what it has tried several times. */
function isRebalancing(cause: unknown): boolean {
  const { type, cause: inner } = (cause ?? {}) as { type?: unknown; cause?: unknown };
  return REBALANCING.has(type) || (inner !== undefined && isRebalancing(inner));
}

function problemOf(cause: unknown): string {
  const why = cause instanceof Error ? cause.message : String(cause);
  return `Offsets cannot be committed to the broker: ${why}`;
}
