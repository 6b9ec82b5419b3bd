import type { Ingested, RecordBatch, RecordSource } from "../model/kafka.ts";
import { handlerIn, type Schema } from "../model/schema.ts";
import type { Tracer } from "../observe/tracer.ts";
import type { Trail } from "../placement/router.ts";
import type { InvocationRequest, PartTaken } from "../ports.ts";
import { Parts, type Taken } from "./parts.ts";
import { RecordInvoker } from "./record_invoker.ts";
import { sinkOf } from "./source.ts";

/** Records of one partition of a topic, as requests. Their offsets grow. */
export interface RequestBatch {
  readonly source: RecordSource;
  /** The offset after all that is done with this batch. */
  readonly next: number;
  readonly records: readonly { readonly offset: number; readonly request: InvocationRequest }[];
  /** Batches of the source that are under way before this one. Absent: none is. */
  readonly trail?: Trail;
}

export interface IngestDeps {
  /**
   * Takes requests, each once. Resolves once all before `next` are durable. Without records: notes that
   * all before `next` is done with, and answers before which offset all is. Rejects with `Failure` 503.
   */
  readonly take: (batch: RequestBatch) => Promise<PartTaken>;
  /** Calls back once the partitions have had their turns. */
  readonly soon: (call: () => void) => void;
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
 * with (docs/spec/admin.md#sidecars). A batch without records is a note, as of `deps.take`. Rejects as
 * `deps.take` does.
 */
export async function ingestBatch(
  deps: IngestDeps,
  { records, next, ...source }: RecordBatch,
  { sink, schema }: { readonly sink: string; readonly schema: Schema },
): Promise<Ingested> {
  const [first] = records;
  // A note of a sidecar, or its question how far the partitions are.
  if (!first) return { next: (await deps.take({ source, next, records: [] })).next };
  const invoker = invokerOf(deps, source, { sink, schema });
  const parts = new Parts(deps, source, first.offset);
  let open: Taken[] = [], size = 0, settled: number | undefined;
  for (const record of records) {
    const { offset } = record;
    const made = invoker?.requestOf(record) ?? { problem: NO_SINK };
    if ("problem" in made) {
      // What is done with is no poison, whatever becomes of records now (decision 058).
      settled ??= (await deps.take({ source, next: 0, records: [] })).next;
      if (offset < settled) continue;
      const ended = await parts.end(open, offset);
      return ended.next < offset ? ended : { next: offset, poison: { message: made.problem } };
    }
    const one = { offset, ...made };
    size += sizeOf(one);
    if (open.length > 0 && (open.length === PART_RECORDS || size > PART_BYTES)) {
      if (!await parts.send(open, offset)) break;
      [open, size] = [[], sizeOf(one)];
    }
    open.push(one);
  }
  return await parts.end(open, next);
}

/** Records of one part: while they are stored, those of the next one are mapped. Fewer cost more commits. */
const PART_RECORDS = 1_000;
/** Bytes of the requests of one part, which may be on its way to another process. */
const PART_BYTES = 1024 * 1024;
/** Bytes of a request beside its value and its headers, about. */
const REQUEST_BYTES = 500;

function sizeOf({ request: { value, headers } }: Taken): number {
  let characters = 0;
  for (const [name, text] of headers) characters += name.length + text.length;
  return value.length + characters + REQUEST_BYTES;
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
