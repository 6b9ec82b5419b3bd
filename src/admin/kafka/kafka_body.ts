import { define, type Infer, nullable, record } from "superstruct";
import type { RecordPlace } from "../../model/kafka.ts";
import { wrongShape } from "../refusals.ts";
import {
  described,
  fields,
  flag,
  maybe,
  plain,
  text,
  texts,
  textUpTo,
  wholeNumber,
  withDescription,
} from "../shapes.ts";

/** What may be the authority of a URI. */
const NAME = /^[A-Za-z0-9._~-]{1,255}$/;

const clusterName = described(
  define<string>("clusterName", (value) =>
    typeof value === "string" && NAME.test(value) ||
    "expected up to 255 letters, digits, dots, hyphens, underscores or tildes"),
  { type: "string", pattern: NAME.source },
);

const properties = withDescription(
  texts,
  "Options of the client, by the names that librdkafka gives them; `bootstrap.servers` among them.",
);

/** The body of `POST /kafka-clusters` (docs/spec/admin.md#kafka-clusters). */
export const newClusterBody = fields({ name: clusterName, properties });

/** The body of `PATCH /kafka-clusters/{cluster}`. */
export const clusterBody = fields({ properties });

/** The body of `POST /subscriptions` (docs/spec/admin.md#subscriptions). */
export const newSubscriptionBody = fields({
  source: withDescription(text, "`kafka://CLUSTER/TOPIC`; a topic from `^` on is a pattern."),
  sink: withDescription(text, "`service://SERVICE/HANDLER`."),
  options: withDescription(
    maybe(texts),
    "Options of its own, which win over those of the cluster.",
  ),
});

const optionChanges = described(plain(record(text, nullable(text))), {
  type: "object",
  additionalProperties: { type: ["string", "null"] },
});

/** The body of `PATCH /subscriptions/{subscription}`. */
export const subscriptionBody = fields({
  options: withDescription(
    maybe(optionChanges),
    "Options to set. Null: to remove. Others stay.",
  ),
  paused: withDescription(maybe(flag), "Whether nothing is consumed."),
});

const TOPIC_MAX = 249;
const PARTITION_MAX = 2 ** 31 - 1;

/** The body of `POST /subscriptions/{subscription}/skip`: all three, or nothing. */
export const skipBody = fields({
  topic: maybe(textUpTo(TOPIC_MAX)),
  partition: maybe(wholeNumber(0, PARTITION_MAX)),
  offset: maybe(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
});

/** The record to skip. Undefined: the one that blocks. Throws a `Failure` 422 when a part is missing. */
export function parseSkip(
  { topic, partition, offset }: Infer<typeof skipBody>,
): RecordPlace | undefined {
  if (topic == null && partition == null && offset == null) return undefined;
  if (topic == null || partition == null || offset == null) {
    throw wrongShape("", "expected topic, partition and offset, or none of them");
  }
  return { topic, partition, offset };
}
