import type { Ingested, RecordBatch, RecordSource } from "../model/kafka.ts";
import { handlerIn, type Schema } from "../model/schema.ts";
import type { RequestSpan, Tracer } from "../observe/tracer.ts";
import type { InvocationRequest, PartTaken } from "../ports.ts";
import { RecordInvoker } from "./record_invoker.ts";
import { sinkOf } from "./source.ts";

/** Records of one partition of a topic, as requests. Their offsets grow. */
export interface RequestBatch {
  readonly source: RecordSource;
  /** The offset after all that is done with this batch. */
  readonly next: number;
  readonly records: readonly { readonly offset: number; readonly request: InvocationRequest }[];
}

export interface IngestDeps {
  /** Takes requests, each once. Resolves once all before `next` are durable. Rejects with `Failure` 503. */
  readonly take: (batch: RequestBatch) => Promise<PartTaken>;
  readonly tracer?: Pick<Tracer, "request"> | undefined;
  /** The largest value of a record, in bytes. */
  readonly valueBytesMax: number;
  /** Whether records may set scopes and limit keys. */
  readonly isScopeRead: boolean;
}

/** In the words of the reference. */
const NO_SINK = "Service and handler are not registered";

/**
 * Makes invocations of the records of a batch, up to the first that cannot become one
 * (docs/spec/admin.md#sidecars). `sink`: of the subscription. Rejects as `deps.take` does.
 */
export async function ingestBatch(
  deps: IngestDeps,
  { records, next, ...source }: RecordBatch,
  { sink, schema }: { readonly sink: string; readonly schema: Schema },
): Promise<Ingested> {
  const invoker = invokerOf(deps, source, { sink, schema });
  const taken: { offset: number; request: InvocationRequest; span: RequestSpan | undefined }[] = [];
  let poison: { readonly offset: number; readonly message: string } | undefined;
  for (const record of records) {
    const { offset } = record;
    const made = invoker?.requestOf(record) ?? { problem: NO_SINK };
    if ("problem" in made) {
      poison = { offset, message: made.problem };
      break;
    }
    taken.push({ offset, ...made });
  }
  const end = poison?.offset ?? next;
  if (taken.length > 0) {
    const answer = deps.take({
      source,
      next: end,
      records: taken.map(({ offset, request }) => ({ offset, request })),
    });
    for (const { span, request } of taken) span?.follow(answer, request);
    const { next: reached, isFull } = await answer;
    if (reached < end) return { next: reached, ...(isFull && { isFull }) };
  }
  return { next: end, ...(poison && { poison: { message: poison.message } }) };
}

/** Undefined: the sink is not registered. */
function invokerOf(
  { tracer, valueBytesMax, isScopeRead }: IngestDeps,
  source: RecordSource,
  { sink, schema }: { readonly sink: string; readonly schema: Schema },
): RecordInvoker | undefined {
  const { service: name, handler: called } = sinkOf({ sink });
  const service = schema.latest(name);
  const handler = service && handlerIn(service, called);
  return service && handler &&
    new RecordInvoker({ source, schema, service, handler, tracer, valueBytesMax, isScopeRead });
}
