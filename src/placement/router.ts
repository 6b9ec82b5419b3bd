import type { Operation, RecordPart, RecordRequest } from "../engine/event.ts";
import { Failure } from "../errors.ts";
import type { Signal } from "../model/command.ts";
import type { Result } from "../model/journal.ts";
import type { LetterRef, OwedLetter } from "../model/kafka.ts";
import { partitionOfId, partitionOfObject } from "../model/ring.ts";
import type { PromiseName, PromiseTaken } from "../model/promise.ts";
import type { StateEdit } from "../model/state_edit.ts";
import type { ObjectName } from "../model/target.ts";
import type {
  Accepted,
  Attached,
  Completed,
  InvocationRequest,
  Invocations,
  LettersRequest,
  OnLeave,
  Operated,
  PartitionClient,
  PartTaken,
} from "../ports.ts";
import type { Directory } from "./directory.ts";

/**
 * All partitions as one: sends each request to the partition of its id or object
 * (docs/spec/storage-layout.md#partitions).
 */
export class Router implements Invocations {
  readonly #directory: Directory;

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  async send(request: InvocationRequest): Promise<Accepted> {
    return await this.#of(request.id).send(request);
  }

  async call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    return await this.#of(request.id).call(request, onLeave);
  }

  async attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined> {
    return await this.#of(id).attach(id, onLeave);
  }

  async output(id: string): Promise<Attached | "unknown" | "notReady"> {
    return await this.#of(id).output(id);
  }

  async signal(signal: Signal): Promise<void> {
    await this.#of(signal.target).signal(signal);
  }

  async editState(object: ObjectName, edit: StateEdit): Promise<void> {
    const place = partitionOfObject(object, this.#directory.partitions);
    await this.#directory.partitionClient(place).editState(object, edit);
  }

  async completePromise(promise: PromiseName, result: Result): Promise<PromiseTaken> {
    return await this.#of(promise.run).completePromise(promise, result);
  }

  async operate(id: string, operation: Operation): Promise<Operated> {
    return await this.#of(id).operate(id, operation);
  }

  /**
   * Has the records of a batch invoke handlers, each once, in the partition of its id. The partitions
   * take their parts side by side. Resolves once all records before `next` are durable. Without records
   * it notes that all before `next` is done with, and `next` of the answer is the offset before which
   * all is, as far as the partitions know (decision 058). Rejects with `Failure` 400 when offsets do not
   * grow, and 503 as each partition does: then any part of the batch may have been taken, and it can be
   * sent again.
   */
  async ingest(batch: RecordsOfSource): Promise<PartTaken> {
    checkOffsets(batch);
    const { source, next, records, trail } = batch;
    const [first] = records;
    if (!first) return { next: await this.#settled(batch) };
    const parts = this.#byPartition(records);
    const settled = trail?.settled ?? first.offset;
    const homes = settled === first.offset ? { homes: parts.size } : {};
    const taken = await Promise.all(
      [...parts].map(async ([partition, records]) => {
        const client = this.#directory.partitionClient(partition);
        const before = trail?.ends.get(partition);
        const after = before === undefined ? {} : { after: before };
        trail?.ends.set(partition, next);
        return await client.ingest({ source, settled, next, records, ...after, ...homes });
      }),
    );
    // A partition that has seen later batches is beyond this one.
    const reached = Math.min(next, ...taken.map((part) => part.next));
    const damage = taken.find((part) => part.next === reached)?.damage;
    const replays = taken.reduce((sum, part) => sum + (part.replays ?? 0), 0);
    return {
      next: reached,
      ...(taken.some(({ isFull }) => isFull) && { isFull: true }),
      ...(damage !== undefined && { damage }),
      ...(replays > 0 && { replays }),
    };
  }

  /** One partition notes it, and all are asked. */
  async #settled({ source, next: done }: RecordsOfSource): Promise<number> {
    const { partitions } = this.#directory;
    const known = await Promise.all(
      Array.from({ length: partitions }, (_, partition) => {
        const settled = partition === source.partition % partitions ? done : 0;
        const client = this.#directory.partitionClient(partition);
        return client.ingest({ source, settled, next: 0, records: [] });
      }),
    );
    const settled = Math.max(...known.map(({ settled = 0 }) => settled));
    const end = Math.max(...known.map((one) => one.next));
    const last = known.filter((one) => one.next === end);
    const isWhole = last.every(({ homes }) => homes === last.length);
    return Math.max(done, settled, isWhole ? end : 0);
  }

  /**
   * Notes dead letters that are written, and hands out some that are owed: of `bytesMax` bytes in all, or
   * one of each partition. A partition that cannot be asked is left out, unless some of `written` are
   * its own: then it rejects with `Failure` 503, and they can be noted again.
   */
  async letters(request: LettersRequest): Promise<readonly OwedLetter[]> {
    const { partitions } = this.#directory;
    const all = Array.from({ length: partitions }, (_, partition) => partition);
    const bytesMax = Math.ceil(request.bytesMax / partitions);
    const found = await Promise.all(all.map(async (partition) => {
      const isOwn = ({ id }: LetterRef) => partitionOfId(id, partitions) === partition;
      const [written, returned] = [request.written.filter(isOwn), request.returned.filter(isOwn)];
      const asked = this.#directory.partitionClient(partition)
        .letters({ written, returned, bytesMax });
      return await (written.length > 0 ? asked : asked.catch(() => []));
    }));
    return found.flat();
  }

  #byPartition(records: readonly RecordRequest[]): ReadonlyMap<number, readonly RecordRequest[]> {
    const parts = new Map<number, RecordRequest[]>();
    for (const record of records) {
      const partition = partitionOfId(record.request.id, this.#directory.partitions);
      const part = parts.get(partition);
      if (part) part.push(record);
      else parts.set(partition, [record]);
    }
    return parts;
  }

  /** `id`: a well-formed invocation id. */
  #of(id: string): PartitionClient {
    const { partitions } = this.#directory;
    return this.#directory.partitionClient(partitionOfId(id, partitions));
  }
}

/** A batch of records, with what they ask for. */
export interface RecordsOfSource extends Pick<RecordPart, "source" | "next" | "records"> {
  /** Of batches that are sent before those in front of them are answered. Absent: all are. */
  readonly trail?: Trail;
}

/** Batches of one source that are under way, in the order in which they are sent. */
export interface Trail {
  /** All records before it are done with. */
  readonly settled: number;
  /** The end of the last batch of which a partition has a part, by partition. `ingest` adds to it. */
  readonly ends: Map<number, number>;
}

function checkOffsets({ records, next }: RecordsOfSource): void {
  let end = 0;
  for (const { offset } of records) {
    if (offset < end) throw Failure.plain(400, `the offset ${offset} comes after ${end - 1}`);
    end = offset + 1;
  }
  if (next < end) throw Failure.plain(400, `the batch ends at ${next}, before its last record`);
}
