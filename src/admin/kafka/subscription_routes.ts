import type { Infer } from "superstruct";
import { Failure } from "../../errors.ts";
import { BadId, checkSubscriptionId } from "../../model/id.ts";
import type { PartitionReport, RecordPlace, Subscription } from "../../model/kafka.ts";
import { ref } from "../openapi/answers.ts";
import { group, sink, source } from "../parameter.ts";
import { quote } from "../refusals.ts";
import type { Registry } from "../registry.ts";
import { empty, reply } from "../reply.ts";
import { type Call, type RouteDoc, type Routes, withBody } from "../route.ts";
import type { KafkaAdmin } from "./kafka_admin.ts";
import type { GroupEnd } from "./leaving_groups.ts";
import { newSubscriptionBody, parseSkip, skipBody, subscriptionBody } from "./kafka_body.ts";
import { statusRecord, subscriptionRecord } from "./kafka_records.ts";

const tag = "subscription";

const LIST: RouteDoc = {
  id: "list_subscriptions",
  tag,
  summary: "List subscriptions, the oldest first",
  query: [sink, source],
  answers: { 200: ["The subscriptions", ref("ListSubscriptions")] },
};
const CREATE: RouteDoc = {
  id: "create_subscription",
  tag,
  summary: "Have records of a topic become invocations of a handler; no broker is asked",
  answers: { 201: ["Created", ref("Subscription")] },
  refusals: [409, 503],
};
const SHOW: RouteDoc = {
  id: "get_subscription",
  tag,
  summary: "Show one subscription, and how far it is",
  answers: { 200: ["The subscription", ref("DetailedSubscription")] },
  refusals: [404, 503],
};
const UPDATE: RouteDoc = {
  id: "update_subscription",
  tag,
  summary: "Change options of a subscription, pause it, or resume it",
  answers: { 200: ["The subscription as it is now", ref("Subscription")] },
  refusals: [404, 503],
};
const DELETE: RouteDoc = {
  id: "delete_subscription",
  tag,
  summary: "Delete a subscription",
  query: [group],
  answers: {
    200: ["Deleted, and what became of its group", ref("DeletedGroup")],
    202: ["Deleted, and its group stays"],
  },
  refusals: [404, 409, 503],
};
const SKIP: RouteDoc = {
  id: "skip_record",
  tag,
  summary: "Pass over one record: one that is named, or the one that blocks",
  answers: { 202: ["The record that is passed over", ref("SkippedRecord")] },
  refusals: [404, 409, 503],
};

/** What the routes of subscriptions need. */
export interface SubscriptionDeps {
  readonly registry: Registry;
  /** Absent: nothing is known of states. */
  readonly kafka?: Pick<KafkaAdmin, "statusOf" | "isFollowed" | "groups"> | undefined;
}

/** The routes of subscriptions (docs/spec/admin.md#subscriptions). */
export function subscriptionRoutes(deps: SubscriptionDeps): Routes {
  const { registry } = deps;
  return {
    "/subscriptions": {
      GET: { ...LIST, handle: (call) => list(registry, call) },
      POST: withBody(CREATE, newSubscriptionBody, (_call, body) => create(registry, body)),
    },
    "/subscriptions/:subscription": {
      GET: { ...SHOW, handle: (call) => show(deps, call) },
      PATCH: withBody(UPDATE, subscriptionBody, (call, body) => update(registry, call, body)),
      DELETE: { ...DELETE, handle: (call) => remove(deps, call) },
    },
    "/subscriptions/:subscription/skip": {
      POST: withBody(SKIP, skipBody, (call, body) => skip(deps, call, body)),
    },
  };
}

function list(registry: Registry, call: Call): Response {
  const wanted = { source: source.read(call), sink: sink.read(call) };
  const { controls } = registry.schema();
  const found = registry.kafka.subscriptions().filter((one) =>
    one.source === (wanted.source ?? one.source) && one.sink === (wanted.sink ?? one.sink)
  );
  return reply(200, { subscriptions: found.map((one) => subscriptionRecord(one, controls)) });
}

async function create(
  registry: Registry,
  { source, sink, options }: Infer<typeof newSubscriptionBody>,
): Promise<Response> {
  const made = await registry.kafka.subscribe({ source, sink, options: options ?? {} });
  const record = subscriptionRecord(made, registry.schema().controls);
  return reply(201, record, { location: `subscriptions/${made.id}` });
}

async function show({ registry, kafka }: SubscriptionDeps, call: Call): Promise<Response> {
  const subscription = registry.kafka.subscription(idOf(call));
  const status = await kafka?.statusOf(subscription) ?? UNKNOWN;
  const record = subscriptionRecord(subscription, registry.schema().controls);
  return reply(200, { ...record, ...statusRecord(status) });
}

const UNKNOWN = { state: "starting", partitions: [] } as const;

async function update(
  registry: Registry,
  call: Call,
  { options, paused }: Infer<typeof subscriptionBody>,
): Promise<Response> {
  const changed = await registry.kafka.update(idOf(call), {
    ...(options != null && { options }),
    ...(paused != null && { paused }),
  });
  return reply(200, subscriptionRecord(changed, registry.schema().controls));
}

async function remove(deps: SubscriptionDeps, call: Call): Promise<Response> {
  const { registry, kafka } = deps;
  const [id, withGroup] = [idOf(call), group.read(call)];
  if (!withGroup || !kafka) {
    await registry.kafka.remove(id, { withGroup });
    return empty(202);
  }
  const subscription = registry.kafka.subscription(id);
  const isFollowed = await kafka.isFollowed(subscription);
  await registry.kafka.remove(id, { withGroup });
  const leave = isFollowed ? call.request.signal : AbortSignal.abort();
  const end = await kafka.groups.endOf(id, leave);
  return reply(200, groupRecord(subscription, end));
}

function groupRecord({ id, options }: Subscription, { isDeleted, problem }: GroupEnd) {
  const group = options["group.id"] ?? id;
  const message =
    `The subscription is deleted, and its consumer group ${quote(group)} is not, since ` +
    `${problem}. Sidecars try again until it is, or its cluster is deleted`;
  return { group, is_deleted: isDeleted, ...(!isDeleted && { message }) };
}

async function skip(
  { registry, kafka }: SubscriptionDeps,
  call: Call,
  body: Infer<typeof skipBody>,
): Promise<Response> {
  const subscription = registry.kafka.subscription(idOf(call));
  const { partitions } = await kafka?.statusOf(subscription) ?? UNKNOWN;
  const place = parseSkip(body) ?? blockedAt(subscription, partitions);
  await registry.kafka.skip(subscription.id, place);
  return reply(202, place);
}

/** The one record at which a partition is blocked. Throws a `Failure` 409 when there are none or more. */
function blockedAt({ id }: Subscription, partitions: readonly PartitionReport[]): RecordPlace {
  const blocked = partitions.flatMap(({ topic, partition, position, stoppedBy }) =>
    stoppedBy?.kind === "poison" && position !== undefined
      ? [{ topic, partition, offset: position }]
      : []
  );
  const [place, ...others] = blocked;
  if (place && others.length === 0) return place;
  const why = place ? "several partitions are blocked" : "no partition is blocked";
  throw Failure.plain(
    409,
    `Cannot skip a record of subscription '${id}': ${why}; name topic, partition and offset`,
  );
}

function idOf({ params }: Call): string {
  const id = params["subscription"] ?? "";
  try {
    return checkSubscriptionId(id);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    const message = `Cannot parse subscription id ${quote(id)}: ${cause.message}`;
    throw Failure.plain(400, message, { cause });
  }
}
