import type { Ingested, RecordSource } from "../model/kafka.ts";
import type { RequestSpan } from "../observe/tracer.ts";
import type { Trail } from "../placement/router.ts";
import type { InvocationRequest, PartTaken } from "../ports.ts";
import type { IngestDeps, RequestBatch } from "./ingest.ts";

/** A request on its way, with the span that ends with its answer. */
export interface Taken {
  readonly offset: number;
  readonly request: InvocationRequest;
  readonly span: RequestSpan | undefined;
}

function withoutSpan({ offset, request }: Taken): RequestBatch["records"][number] {
  return { offset, request };
}

/** Parts of a batch that are sent before the first of them is answered: further ones wait. */
const PARTS_UNDER_WAY = 4;
/** The parts of one batch: some are under way at a time, and they are taken in their order. */
export class Parts {
  readonly #deps: IngestDeps;
  readonly #source: RecordSource;
  readonly #trail: Trail;
  /** Answers of those that are under way, with the offset after each. */
  readonly #underWay: { readonly next: number; readonly answer: Promise<PartTaken> }[] = [];
  /** All before it is taken. */
  #next: number;
  /** The part after which no other one is sent. */
  #last: PartTaken | undefined;

  /** `settled`: all records before it are done with. */
  constructor(deps: IngestDeps, source: RecordSource, settled: number) {
    this.#deps = deps;
    this.#source = source;
    this.#trail = { settled, ends: new Map() };
    this.#next = settled;
  }

  /** Answers, as soon as another part may be mapped, whether one is still to be sent. */
  async send(records: readonly Taken[], next: number): Promise<boolean> {
    const [source, trail] = [this.#source, this.#trail];
    const answer = this.#deps.take({ source, next, trail, records: records.map(withoutSpan) });
    for (const { span, request } of records) span?.follow(answer, request);
    this.#underWay.push({ next, answer });
    // One that fails is met in its turn.
    answer.catch(() => {});
    if (this.#underWay.length === PARTS_UNDER_WAY) await this.#answered();
    // The partitions begin with this part before the next one is mapped.
    else await new Promise<void>((resolve) => this.#deps.soon(resolve));
    return this.#last === undefined;
  }

  /** Sends the last part, if it has records and is still to be sent. Answers for all. */
  async end(records: readonly Taken[], next: number): Promise<Ingested> {
    if (records.length > 0 && this.#last === undefined) await this.send(records, next);
    while (this.#underWay.length > 0) await this.#answered();
    if (!this.#last) return { next: Math.max(next, this.#next) };
    const { isFull, damage } = this.#last;
    return {
      next: this.#next,
      ...(isFull && { isFull }),
      ...(damage !== undefined && { poison: { message: damage } }),
    };
  }

  /** What comes after a part that is not taken whole does not count: it comes again. */
  async #answered(): Promise<void> {
    const first = this.#underWay.shift();
    if (!first) return;
    try {
      const taken = await first.answer;
      if (this.#last) return;
      if (taken.next < first.next) this.#last = taken;
      this.#next = Math.max(this.#next, taken.next);
    } catch (cause) {
      await Promise.allSettled(this.#underWay.map(({ answer }) => answer));
      throw cause;
    }
  }
}
