import { entryType } from "../../model/journal.ts";
import type { RunningAttempt } from "../../query_port.ts";
import type { QueryDatabase } from "../database.ts";
import { namesCallees, showsBytes, usedOf, wantedJournals } from "../journal/wanted_entries.ts";
import type { GivenRows } from "../given_rows.ts";
import { givenLive } from "../live_rows.ts";
import type { Asked } from "../read_request.ts";
import { JOURNAL } from "../tables/journal_tables.ts";
import { quoteTexts } from "../tables/table.ts";
import type { StoredRelation } from "../translate/scope.ts";
import { isCopied, neededOf } from "../translate/source.ts";
import {
  type Copy,
  copyOfRelation,
  firstPage,
  insertCopy,
  makeCopy,
  nextPage,
  type PageStart,
  readPage,
  rowsIn,
  valuesOf,
} from "./copied_rows.ts";
import { givenElsewhere } from "./given_elsewhere.ts";
import type { QuerySource } from "./source.ts";

/** Ids that are named in one statement. */
const IDS_MAX = 500;

/**
 * Copies what a statement needs of the rows of all `sources` into the scratch space of `database`: of
 * each table that it mentions the columns that it uses, computed where the rows are, and the rows that
 * its conditions want, as far as `PushedKeys` says. A plan needs no rows. Rejects with a `Failure` when a
 * source cannot be read or a limit is reached.
 */
export async function copyStored(
  database: QueryDatabase,
  { relations, isPlan }: Asked,
  { sources, running }: {
    /** What an installation has once is in the first one. */
    readonly sources: readonly QuerySource[];
    readonly running: readonly RunningAttempt[];
  },
): Promise<void> {
  const copies = [...relations.filter(isCopied).map(copyOfRelation), ...copiesOfParts(relations)];
  const journals = relations.filter(({ table }) => table.name === JOURNAL);
  if (journals.length > 0) copies.push(journalsOf(journals));
  const asked = isPlan ? [] : sources;
  const live = givenLive(running);
  const given = (await givenElsewhere(asked, copies)).map((rows) => [live, ...rows]);
  const copier = new Copier(database, asked, given);
  await copier.copy(copies);
  if (journals.some(({ used }) => namesCallees(used))) await copyCallees(database, copier);
}

/** The parts of all tables that have some, each once. */
function copiesOfParts(relations: readonly StoredRelation[]): Copy[] {
  const parts = relations.flatMap((one) => neededOf(one).parts ?? []);
  const known = new Map(parts.map((part) => [part.name, part]));
  return [...known.values()].map(({ name, from, columns, keys, isShared = false }) => ({
    table: name,
    columns: columns.map((ref) => ({ ref, sql: `t.${ref}` })),
    from,
    conditions: [],
    filter: [],
    name: "r",
    keys: keys.map((key) => `t.${key}`),
    isShared,
  }));
}

const BYTES = { ref: "bytes", sql: "t.bytes", holds: "bytes" } as const;

/** Journals as they are stored: `journal/entry_rows.ts` reads them out of the copy. */
function journalsOf(mentions: readonly StoredRelation[]): Copy {
  const ids = wantedJournals(mentions);
  return {
    table: "whole_journal",
    columns: [
      { ref: "id", sql: "t.id" },
      { ref: "first", sql: "t.first" },
      { ref: "entries", sql: "t.entries" },
      ...(showsBytes(usedOf(mentions)) ? [BYTES] : []),
    ],
    primaryKey: ["id", "first"],
    from: "whole_journal as t",
    conditions: ids ? [`t.id in ${quoteTexts([...ids])}`] : [],
    filter: [],
    name: "r",
    keys: ["t.id", "t.first"],
    isShared: false,
  };
}

const CALLED = `select distinct cast(e.value ->> '$.result.id' as blob)
  from main.whole_journal as j, json_each(iif(json_valid(j.entries), j.entries, '[]')) as e
  where e.value ->> '$.type' = ${entryType.callInvocationIdCompletion}
  and e.value ->> '$.result.kind' = 'invocationId'`;

/** Rows of the invocations that the copied journals call. */
async function copyCallees(database: QueryDatabase, copier: Copier): Promise<void> {
  const decoder = new TextDecoder();
  const ids = (await database.rows(CALLED)).map(([id]) => decoder.decode(id as Uint8Array));
  const some = (at: number): Copy => ({
    table: "invocation",
    columns: [{ ref: "id", sql: "t.id" }, { ref: "body", sql: "t.body" }],
    primaryKey: ["id"],
    from: "invocation as t",
    conditions: [`t.id in ${quoteTexts(ids.slice(at, at + IDS_MAX))}`],
    filter: [],
    name: "r",
    keys: ["t.id"],
    isShared: false,
  });
  await database.run(makeCopy(some(0)));
  for (let at = 0; at < ids.length; at += IDS_MAX) await copier.fill([some(at)]);
}

class Copier {
  readonly #database: QueryDatabase;
  readonly #sources: readonly QuerySource[];
  /** What the statements of each source are given. */
  readonly #given: readonly (readonly GivenRows[])[];
  /** Rows so far, of those copies that need only some. */
  readonly #copied = new Map<Copy, number>();

  constructor(
    database: QueryDatabase,
    sources: readonly QuerySource[],
    given: readonly (readonly GivenRows[])[],
  ) {
    this.#database = database;
    this.#sources = sources;
    this.#given = given;
  }

  async copy(copies: readonly Copy[]): Promise<void> {
    for (const copy of copies) await this.#database.run(makeCopy(copy));
    await this.fill(copies);
  }

  /** From all sources at once, since each of them may be far away. */
  async fill(copies: readonly Copy[]): Promise<void> {
    await Promise.all(
      this.#sources.map((source, i) =>
        this.#fillFrom(source, {
          copies: i === 0 ? copies : copies.filter(({ isShared }) => !isShared),
          given: this.#given[i] ?? [],
        })
      ),
    );
  }

  /**
   * The first pages of all tables are read together, and so at one moment. Whatever fits into them is
   * as it was then; later pages are as rows are when their turn comes.
   */
  async #fillFrom(
    source: QuerySource,
    { copies, given }: { readonly copies: readonly Copy[]; readonly given: readonly GivenRows[] },
  ): Promise<void> {
    let open: (readonly [Copy, PageStart])[] = copies.map((copy) => [copy, firstPage(copy)]);
    while (open.length > 0) {
      this.#database.check();
      const pages = await source.read(
        open.map(([copy, place]) => readPage(copy, place, given)),
      );
      const upcoming: typeof open = [];
      for (const [i, [copy, place]] of open.entries()) {
        const page = pages[i] ?? [];
        const values = page.map((row) => valuesOf(copy, row));
        await this.#database.runAll(insertCopy(copy, place), values);
        this.#count(copy, rowsIn(page, place));
        const next = nextPage(copy, page, place);
        if (next) upcoming.push([copy, next]);
      }
      // Other sources may have given enough meanwhile.
      open = upcoming.filter(([copy]) => !this.#isEnough(copy));
    }
  }

  #count(copy: Copy, rows: number): void {
    this.#copied.set(copy, (this.#copied.get(copy) ?? 0) + rows);
  }

  #isEnough(copy: Copy): boolean {
    return (this.#copied.get(copy) ?? 0) >= (copy.rowsMax ?? Infinity);
  }
}
