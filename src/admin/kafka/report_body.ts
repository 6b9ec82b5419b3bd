import { define, type Infer } from "superstruct";
import { BadId, parseInvocationId } from "../../model/id.ts";
import type {
  PartitionReport,
  SidecarReport,
  SubscriptionReport,
  SubscriptionState,
} from "../../model/kafka.ts";
import { fields, listOf, maybe, textUpTo, wholeNumber } from "../shapes.ts";

const MEMBER_MAX = 100;
const ID_MAX = 100;
const TOPIC_MAX = 1000;
/** Characters of a message of an error that are kept: every process keeps reports in memory. */
const MESSAGE_MAX = 1000;

const natural = wholeNumber(0, Number.MAX_SAFE_INTEGER);
const message = define<string>(
  "message",
  (value) => typeof value === "string" || "expected a string",
);

function oneOf<const T extends string>(...words: readonly T[]) {
  return define<T>(
    "word",
    (value) => words.some((word) => word === value) || `expected one of ${words.join(", ")}`,
  );
}

const partitionReport = fields({
  topic: textUpTo(TOPIC_MAX),
  partition: natural,
  position: maybe(natural),
  end: maybe(natural),
  stoppedBy: maybe(fields({ kind: oneOf("poison", "inbox"), message })),
});

const STATES = ["starting", "running", "paused", "blocked", "failing"] as const;

const subscriptionReport = fields({
  id: textUpTo(ID_MAX),
  state: oneOf<SubscriptionState>(...STATES),
  lastError: maybe(fields({ message, at: natural })),
  commitFailures: maybe(natural),
  partitions: listOf(partitionReport),
});

/** The body of a report: `SidecarReport` as JSON. */
export const reportBody = fields({
  member: textUpTo(MEMBER_MAX),
  subscriptions: listOf(subscriptionReport),
  groupsDeleted: maybe(listOf(textUpTo(ID_MAX))),
  groupsKept: maybe(listOf(fields({ id: textUpTo(ID_MAX), message }))),
});

const invocationId = define<string>("invocation id", (value) => {
  try {
    return typeof value === "string" && parseInvocationId(value).length > 0;
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    return cause.message;
  }
});

const letterRefs = listOf(fields({ id: invocationId, attempt: natural }));

/** The body of a request for dead letters: `LettersBody` as JSON. */
export const lettersBody = fields({ written: letterRefs, returned: letterRefs });

/** The report, with messages cut to what is kept. */
export function parseReport(
  { member, subscriptions, groupsDeleted, groupsKept }: Infer<typeof reportBody>,
): SidecarReport {
  return {
    member,
    subscriptions: subscriptions.map(parseSubscription),
    ...(groupsDeleted && { groupsDeleted }),
    ...(groupsKept && {
      groupsKept: groupsKept.map(({ id, message }) => ({ id, message: cut(message) })),
    }),
  };
}

function parseSubscription(
  { id, state, lastError, commitFailures, partitions }: Infer<typeof subscriptionReport>,
): SubscriptionReport {
  return {
    id,
    state,
    ...(lastError && { lastError: { ...lastError, message: cut(lastError.message) } }),
    ...(commitFailures != null && { commitFailures }),
    partitions: partitions.map(parsePartition),
  };
}

function parsePartition(
  { topic, partition, position, end, stoppedBy }: Infer<typeof partitionReport>,
): PartitionReport {
  return {
    topic,
    partition,
    ...(position != null && { position }),
    ...(end != null && { end }),
    ...(stoppedBy && { stoppedBy: { ...stoppedBy, message: cut(stoppedBy.message) } }),
  };
}

function cut(message: string): string {
  return message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)}…` : message;
}
