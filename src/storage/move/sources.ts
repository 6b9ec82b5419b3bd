import { type Rows, sourceOf } from "../../model/rows.ts";
import type { SqlRow } from "../../ports.ts";
import { fromJson, fromSafe, toJson, toSafe } from "../codec/safe_text.ts";

type Source = Rows["source"];

/**
 * How far records of Kafka were taken is the only thing that depends on the partitions which there are:
 * each had a row of its own, and may have taken another part of the last batch (decision 052). Makes one
 * row of these, for partition 0, that says the same of any number of partitions.
 *
 * `rows`: of all databases. `partitions`: how many there were. Throws `SyntaxError` for a row that is no
 * JSON.
 */
export function mergedSources(rows: readonly SqlRow[], partitions: number): SqlRow[] {
  const groups = new Map<string, Source[]>();
  for (const { body } of rows) {
    const row = fromJson(body as string) as Source;
    const name = sourceOf({ ...row, home: 0 });
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return [...groups.values()].map((group) => columnsOf(merged(group, partitions)));
}

/** The rows of all partitions of a new installation, from the one that `mergedSources` made. */
export function spreadSource({ body }: SqlRow, partitions: number): SqlRow[] {
  const row = fromJson(body as string) as Source;
  return Array.from({ length: partitions }, (_, home) => columnsOf({ ...row, home }));
}

/** The partition of a row. */
export function homeOfSource({ source }: SqlRow): number {
  return Number(fromSafe(source as string).split("/", 1)[0]);
}

function merged(rows: readonly Source[], partitions: number): Source {
  const [{ source: { subscription, group, topic, partition } }] = rows as [Source];
  // Whatever is before the last batch of any partition was taken by all of them.
  const settled = Math.max(...rows.map(({ settled }) => settled));
  // A partition without a row has taken none.
  const nexts = Array.from(
    { length: partitions },
    (_, home) => rows.find((row) => row.home === home)?.next ?? 0,
  );
  const known = rows.flatMap(({ earlier = [] }) => earlier);
  const open = [...known, nexts].filter((one) => Math.max(...one) > settled);
  const earlier = [...new Set(open.map((one) => JSON.stringify(one)))].sort();
  return {
    home: 0,
    source: { subscription, group, topic, partition },
    next: settled,
    settled,
    ...(earlier.length > 0 && { earlier: earlier.map((one) => JSON.parse(one) as number[]) }),
  };
}

function columnsOf(row: Source): SqlRow {
  return { source: toSafe(sourceOf(row)), body: toJson(row) };
}
