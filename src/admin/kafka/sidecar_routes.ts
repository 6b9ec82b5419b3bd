import { Failure } from "../../errors.ts";
import { decodeBatch } from "../../kafka/batch_codec.ts";
import { checkBatch } from "../../kafka/check_batch.ts";
import { isSameText } from "../../kafka/token.ts";
import type { RecordBatch, Subscription } from "../../model/kafka.ts";
import { readBody, readBytes } from "../body.ts";
import { badQuery, quote } from "../refusals.ts";
import type { Registry } from "../registry.ts";
import { dialectsOf, refuse, reply } from "../reply.ts";
import type { Call, Handle, Routes } from "../route.ts";
import type { KafkaAdmin } from "./kafka_admin.ts";
import { lettersBody, parseReport, reportBody } from "./report_body.ts";

/** What the routes of sidecars need. */
export interface SidecarDeps {
  readonly registry: Registry;
  /** Absent: there are no such routes. */
  readonly kafka?: KafkaAdmin | undefined;
}

/** The longest wait for another plan, in milliseconds. */
const WAIT_MS_MAX = 30_000;

/**
 * The routes of sidecars (docs/spec/admin.md#sidecars). They are not in the OpenAPI document: only our
 * own sidecar uses them.
 */
export function sidecarRoutes({ registry, kafka }: SidecarDeps): Routes {
  if (!kafka) return {};
  const checked = (handle: Handle): Handle => withToken(() => kafka.token(), handle);
  return {
    "/internal/kafka/plan": { GET: checked((call) => showPlan(kafka, call)) },
    "/internal/kafka/records": { POST: checked((call) => takeRecords(registry, kafka, call)) },
    "/internal/kafka/letters": { POST: checked((call) => exchangeLetters(kafka, call)) },
    "/internal/kafka/reports": { POST: checked((call) => takeReport(kafka, call)) },
  };
}

/** Refuses with 401 what does not show the token. */
function withToken(token: () => Promise<string>, handle: Handle): Handle {
  return async (call) => {
    const { headers } = call.request;
    const given = headers.get("authorization") ?? "";
    if (isSameText(given, `Bearer ${await token()}`)) return await handle(call);
    const message = 'Cannot serve a sidecar without its token: set "kafka.token" for both';
    const refusal = { status: 401, message, code: null };
    return refuse(refusal, dialectsOf(headers), { "www-authenticate": "Bearer" });
  };
}

async function showPlan({ feed }: KafkaAdmin, call: Call): Promise<Response> {
  const query = new URL(call.url).searchParams;
  const wait = query.get("wait") ?? "0";
  const waitMs = /^\d{1,5}$/.test(wait) ? Number(wait) : NaN;
  if (!(waitMs <= WAIT_MS_MAX)) {
    throw badQuery("wait", `expected milliseconds from 0 to ${WAIT_MS_MAX}`);
  }
  const plan = await feed.after(query.get("known") ?? undefined, waitMs, call.request.signal);
  if (plan === "ended") return ended(call, query.get("own") === "true");
  return plan ? reply(200, plan) : new Response(null, { status: 304 });
}

/** No failure, so nothing is logged. A sidecar of this server's own ends with it. */
function ended(call: Call, isOwn: boolean): Response {
  const message = "Cannot wait for a plan: the server ends";
  const refusal = { status: isOwn ? 410 : 503, message, code: null };
  return refuse(refusal, dialectsOf(call.request.headers));
}

async function takeRecords(
  registry: Registry,
  { ingestion }: KafkaAdmin,
  call: Call,
): Promise<Response> {
  const batch = decodeBatch(await readBytes(call.request, ingestion.bytesMax));
  checkBatch(batch);
  return reply(200, await ingestion.take(batch, subscriptionOf(registry, batch)));
}

/** A batch of another group was read by an old plan. Its records would not be known again. */
function subscriptionOf(
  { kafka }: Registry,
  { subscription, group }: RecordBatch,
): Subscription {
  const known = kafka.subscription(subscription);
  if (known.options["group.id"] === group) return known;
  const problem = `its consumer group is not ${quote(group)}; read the plan again`;
  throw Failure.plain(404, `Cannot take records of subscription '${known.id}': ${problem}`);
}

async function exchangeLetters({ letters }: KafkaAdmin, call: Call): Promise<Response> {
  const told = await readBody(call, lettersBody);
  return reply(200, { letters: await letters.exchange(told) });
}

async function takeReport({ reports, groups }: KafkaAdmin, call: Call): Promise<Response> {
  const report = parseReport(await readBody(call, reportBody));
  await reports.take(report);
  groups.kept(report.groupsKept ?? []);
  return new Response(null, { status: 204 });
}
