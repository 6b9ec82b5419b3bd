import fc from "fast-check";
import { expect, test } from "vitest";
import type { RecordRequest } from "../../src/engine/event.ts";
import { type Fate, requestOf, Server } from "./_topic.ts";

const fates = fc.array(fc.constantFrom<Fate>("taken", "taken", "taken", "unheard", "lost"), {
  minLength: 3,
  maxLength: 3,
});

/** Something that a sidecar does, or that is done to it or to us. */
const happening = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("send"), size: fc.nat(6), fates }) },
  /** A batch of before comes once more, from the network or another sidecar. */
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("repeat"), which: fc.nat(), fates }) },
  /** It begins again from what was committed to the broker at some time. */
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("forget"), at: fc.nat() }) },
  /** It is done with all before its position, and says so; or asks, which must not be more than is true. */
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("note"), isAsked: fc.boolean(), fates }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end"), pick: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("reshard"),
      partitions: fc.constantFrom(1, 2, 3, 5, 64),
    }),
  },
);

const topics = fc.array(
  fc.record({
    key: fc.constantFrom(undefined, undefined, "a", "b", "c"),
    isSkipped: fc.constantFrom(false, false, false, true),
  }),
  { minLength: 1, maxLength: 60 },
);

type Topic = readonly { readonly key: string | undefined; readonly isSkipped: boolean }[];

/** A sidecar: sends a batch once all before it are durable, and commits to the broker at any time. */
class Sidecar {
  readonly #topic: Topic;
  readonly #server: Server;
  position = 0;
  /** The server knows that all before it is done with. */
  noted = 0;
  /** Positions that were durable, and so may have been committed. */
  readonly #durable = [0];
  readonly #sent: { readonly next: number; readonly records: RecordRequest[] }[] = [];

  constructor(topic: Topic, server: Server) {
    this.#topic = topic;
    this.#server = server;
  }

  async send(size: number, fates: readonly Fate[]): Promise<void> {
    const next = Math.min(this.#topic.length, this.position + size);
    const records: RecordRequest[] = [];
    for (let offset = this.position; offset < next; offset++) {
      const { key, isSkipped } = this.#topic[offset]!;
      if (!isSkipped) records.push(requestOf(offset, key));
    }
    const batch = { next, records };
    this.#sent.push(batch);
    const taken = await this.#server.ingest(batch, (n) => fates[n % 3]!).catch(() => undefined);
    if (!taken) return;
    this.position = taken.next;
    this.#durable.push(taken.next);
  }

  async repeat(which: number, fates: readonly Fate[]): Promise<void> {
    const batch = this.#sent[which % Math.max(1, this.#sent.length)];
    if (batch) await this.#server.ingest(batch, (n) => fates[n % 3]!).catch(() => {});
  }

  /** The offset before which all is done with, as the server knows. Undefined: there is no answer. */
  async note(isAsked: boolean, fates: readonly Fate[]): Promise<number | undefined> {
    const next = isAsked ? 0 : this.position;
    const fateOf = (n: number) => fates[n % 3]!;
    const known = await this.#server.ingest({ next, records: [] }, fateOf).catch(() => undefined);
    if (!known) return undefined;
    this.noted = Math.max(this.noted, next);
    expect(known.next).toBeGreaterThanOrEqual(this.noted);
    return known.next;
  }

  forget(at: number): void {
    this.position = this.#durable[at % this.#durable.length]!;
  }
}

/** What is said to be done with is. */
function mustBeMade(topic: Topic, { made }: Server, known: number): void {
  const missing = [...topic.keys()].filter((offset) =>
    offset < known && !topic[offset]!.isSkipped && !made.includes(offset)
  );
  expect(missing).toEqual([]);
}

test("however a sidecar forgets, repeats and reorders, each record is one invocation, in order", () =>
  fc.assert(
    fc.asyncProperty(
      topics,
      fc.constantFrom(1, 2, 3, 64),
      fc.constantFrom(2, 1_000),
      fc.array(happening, { maxLength: 40 }),
      async (topic, partitions, inboxMax, happenings) => {
        const server = new Server(partitions, inboxMax);
        const sidecar = new Sidecar(topic, server);
        for (const one of happenings) {
          if ("size" in one) await sidecar.send(one.size, one.fates);
          else if ("which" in one) await sidecar.repeat(one.which, one.fates);
          else if ("isAsked" in one) {
            mustBeMade(topic, server, await sidecar.note(one.isAsked, one.fates) ?? 0);
          } else if ("at" in one) sidecar.forget(one.at);
          else if ("pick" in one) server.end(one.pick);
          else server.reshard(one.partitions);
          for (const { counted, open } of server.counts) expect(counted).toBe(open);
        }
        const calm: Fate[] = ["taken", "taken", "taken"];
        for (let turns = 0; sidecar.position < topic.length; turns++) {
          expect(turns).toBeLessThan(500);
          await sidecar.send(5, calm);
          server.end(0);
        }
        const offsets = [...topic.keys()];
        expect([...server.made].sort((a, b) => a - b)).toEqual(
          offsets.filter((offset) => !topic[offset]!.isSkipped),
        );
        for (const key of ["a", "b", "c"]) {
          const ofKey = server.made.filter((offset) => topic[offset]!.key === key);
          expect(ofKey).toEqual([...ofKey].sort((a, b) => a - b));
        }
      },
    ),
    { numRuns: 300 },
  ));

test.each([0, 1])(
  "what a partition other than %i had taken before a reshard comes once",
  async (lost) => {
    const keys = [undefined, "a", "b", "c", "a", "b"];
    const records = keys.map((key, offset) => requestOf(offset, key));
    const server = new Server(2, 1_000);
    const fateOf = (partition: number): Fate => partition === lost ? "lost" : "taken";
    await expect(server.ingest({ next: 6, records }, fateOf)).rejects.toThrow("lost");
    expect(server.made.length).toBeGreaterThan(0);
    expect(server.made.length).toBeLessThan(6);
    // Two in a row, with nothing between them.
    server.reshard(3);
    server.reshard(1);
    // One by one: a row that has moved on by one still knows of the others.
    for (const record of records) {
      const next = record.offset + 1;
      expect(await server.ingest({ next, records: [record] }, () => "taken")).toEqual({ next });
    }
    expect([...server.made].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  },
);
