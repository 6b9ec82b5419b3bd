import { byteSize, count, duration } from "./kinds.ts";
import { option } from "./option.ts";

/** Limits of queries in SQL (docs/sql.md). */
export const queryOptions = {
  "admin.query-engine.timeout": option(duration(1), "30s", {
    doc: "How long a query may take, and how long its answer may wait for a slow reader.",
  }),
  "admin.query-engine.rows": option(count(1), "1000000", {
    doc: "How many rows an answer may have. A query with more fails.",
  }),
  "admin.query-engine.memory-size": option(byteSize(), "512MiB", {
    doc: "How much memory the process that runs a query may add. Beyond it the query fails.",
  }),
  "admin.query-engine.result-size": option(byteSize(), "1GiB", {
    doc:
      "How much a query may write to disk: its answer, and the journals and other rows that it copies.",
  }),
  "admin.query-engine.concurrent-queries-limit": option(count(1), "4", {
    doc: "Queries at once. Up to 100 further ones wait; the others are answered with 429.",
  }),
} as const;
