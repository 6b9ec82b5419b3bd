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
  /**
   * Takes requests, each once. Resolves once all before `next` are durable. Without records: notes that
   * all before `next` is done with, and answers before which offset all is. Rejects with `Failure` 503.
   */
  readonly take: (batch: RequestBatch) => Promise<PartTaken>;
  readonly tracer?: Pick<Tracer, "request"> | undefined;
  /** The largest record, in bytes: its value, and headers beyond 64 KiB. */
  readonly valueBytesMax: number;
  /** Whether records may set scopes and limit keys. */
  readonly isScopeRead: boolean;
}

/** In the words of the reference. */
const NO_SINK = "Service and handler are not registered";

/**
 * Makes invocations of the records of a batch, up to the first that cannot become one and is not done
 * with (docs/spec/admin.md#sidecars). A batch without records is a note, as of `deps.take`. `sink`: of the subscription. Rejects as `deps.take` does.
 */
export async function ingestBatch(
  deps: IngestDeps,
  { records, next, ...source }: RecordBatch,
  { sink, schema }: { readonly sink: string; readonly schema: Schema },
): Promise<Ingested> {
  // A note of a sidecar, or its question how far the partitions are.
  if (records.length === 0) return { next: (await deps.take({ source, next, records: [] })).next };
  const invoker = invokerOf(deps, source, { sink, schema });
  const taken: Taken[] = [];
  let poison: { readonly offset: number; readonly message: string } | undefined;
  let settled: number | undefined;
  for (const record of records) {
    const { offset } = record;
    const made = invoker?.requestOf(record) ?? { problem: NO_SINK };
    if (!("problem" in made)) {
      taken.push({ offset, ...made });
      continue;
    }
    // What is done with is no poison, whatever becomes of records now (decision 058).
    settled ??= (await deps.take({ source, next: 0, records: [] })).next;
    if (offset < settled) continue;
    poison = { offset, message: made.problem };
    break;
  }
  const end = poison?.offset ?? next;
  for (const part of partsOf(taken, end)) {
    const answer = deps.take({ source, next: part.next, records: part.records.map(withoutSpan) });
    for (const { span, request } of part.records) span?.follow(answer, request);
    const { next: reached, isFull, damage } = await answer;
    if (reached >= part.next) continue;
    const poison = damage === undefined ? {} : { poison: { message: damage } };
    return { next: reached, ...(isFull && { isFull }), ...poison };
  }
  return { next: end, ...(poison && { poison: { message: poison.message } }) };
}

/** A request on its way, with the span that ends with its answer. */
interface Taken {
  readonly offset: number;
  readonly request: InvocationRequest;
  readonly span: RequestSpan | undefined;
}

function withoutSpan({ offset, request }: Taken): RequestBatch["records"][number] {
  return { offset, request };
}

/** Bytes of the requests of one part, which may be on its way to another process. */
const PART_BYTES = 1024 * 1024;
/** Bytes of a request beside its value and its headers, about. */
const REQUEST_BYTES = 500;

/**
 * Requests in parts of up to `PART_BYTES`, or of one request that is larger, and the offset after each
 * part. The last one ends at `end`.
 */
function partsOf(
  taken: readonly Taken[],
  end: number,
): { readonly records: readonly Taken[]; readonly next: number }[] {
  const parts: Taken[][] = [];
  let size = 0;
  for (const one of taken) {
    const bytes = sizeOf(one);
    size += bytes;
    const open = parts.at(-1);
    if (open && size <= PART_BYTES) open.push(one);
    else [size] = [bytes, parts.push([one])];
  }
  return parts.map((records, at) => ({ records, next: parts[at + 1]?.[0]?.offset ?? end }));
}

function sizeOf({ request: { value, headers } }: Taken): number {
  const texts = headers.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  return value.length + texts + REQUEST_BYTES;
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
