import { processPromises } from "./_promises_process.ts";
import { introspectionPromises } from "./_promises_introspection.ts";

/** Promises that one column does not keep. */
export interface Gap {
  /** Their names. */
  readonly promises: readonly string[];
  /** For readers of the support table. */
  readonly why: string;
  /** How the checks fail. Absent: they cannot even be tried, or would not come to an end. */
  readonly shows?: RegExp;
}

const FOLDER = [
  "refuses a data folder another process has, and says what to do",
  "refuses a folder that holds something else",
];
const LARGE_BODY = "takes bodies of 32 MiB, and refuses larger ones";
const TOO_LARGE = /expected 413 to be 400/;
const QUERIES = Object.keys(introspectionPromises);
/** A process of any kind can be stopped for a while. */
const STANDING_STILL = "does not mind standing still";

/** What no column keeps over the database server, whoever asks it. */
export const SQLD_GAPS: readonly Gap[] = [
  {
    promises: FOLDER,
    why: "no folder is used or locked: leases in the database guard the rows",
  },
  { promises: [LARGE_BODY], why: "4 MiB are the most that the database takes", shows: TOO_LARGE },
];

export const MEMORY_GAPS: readonly Gap[] = [
  {
    promises: QUERIES,
    why: "rows in memory are for tests and simulation, and know no SQL",
    shows: /The query was answered with 503/,
  },
  {
    promises: Object.keys(processPromises),
    why:
      "memory does not outlive a process: the server is within the test's, and what is started " +
      "again is all of it but the rows",
  },
];

export const WORKERD_GAPS: readonly Gap[] = [
  {
    promises: ["takes calls over HTTP/2 with prior knowledge on the same port"],
    why: "HTTP/1.1 is all that workerd listens for; what stands in front of it speaks HTTP/2",
    shows: /Protocol error|ECONNRESET|ERR_HTTP2|socket/i,
  },
  {
    promises: [LARGE_BODY],
    why: "1 MiB is the most: a Durable Object keeps rows of 2 MB",
    // Who sends more is told so, and cut off.
    shows: /fetch failed|expected 413 to be 400/,
  },
  {
    promises: Object.keys(processPromises).filter((name) => name !== STANDING_STILL),
    why: "the process is workerd's: it has no folder, flags or signals of ours",
  },
];

export const WORKERD_SEVERAL_GAPS: readonly Gap[] = [
  ...WORKERD_GAPS,
  {
    promises: QUERIES,
    why: "rows of several Durable Objects cannot be asked as one",
    shows: /The query was answered with 501/,
  },
  {
    // Not tried: by chance all that is counted may have happened in the object that is asked.
    promises: ["counts what was called"],
    why: "each Durable Object counts for itself, and operators are answered by one of them",
  },
];

export const WORKERD_SQLD_GAPS: readonly Gap[] = [
  ...WORKERD_GAPS,
  {
    promises: QUERIES,
    why: "rows in a database server cannot be asked from a Durable Object",
    shows: /The query was answered with 501/,
  },
];
