import { Failure } from "../errors.ts";
import { header } from "../names.ts";
import type { Introspection, RunningAttempt } from "../query_port.ts";
import { dialectsOf, refuse } from "./reply.ts";
import { type Routes, withBody } from "./route.ts";
import { fields, text, withDescription } from "./shapes.ts";

export interface QueryOptions {
  /** Absent: this process answers no queries. */
  readonly introspection?: Pick<Introspection, "query" | "prepare">;
  /** Attempts that run at this moment. */
  readonly running: () => Iterable<RunningAttempt>;
  /** Our own version. */
  readonly version: string;
}

const ARROW = "application/vnd.apache.arrow.stream";
const JSON_TYPE = "application/json";

const body = fields({
  query: withDescription(
    text,
    "One SELECT, SHOW TABLES, SHOW COLUMNS, DESCRIBE or EXPLAIN statement",
  ),
});

const DOCUMENT = {
  id: "query",
  tag: "introspection",
  summary: "Asks the tables of invocations, journals, state and services in SQL",
  answers: {
    200: [
      "The rows, as a stream of Arrow unless exactly JSON is accepted",
      {
        type: "object",
        properties: {
          rows: { type: "array", items: { type: "object" } },
          warnings: { type: "array", items: { type: "string" } },
        },
        required: ["rows"],
      },
      JSON_TYPE,
      ARROW,
    ],
  },
  refusals: [500, 503],
} as const;

/**
 * `POST /query` (docs/spec/queries.md#answers): JSON for a caller that accepts exactly that, an
 * Arrow stream for any other. Refusals are like all others, where the reference leaves the code
 * out. They are not logged: most of them are about the statement. Warnings about its constants are
 * in a header, since Arrow has no other place, and in JSON with the rows as well.
 */
export function queryRoutes({ introspection, running, version }: QueryOptions): Routes {
  const route = withBody(DOCUMENT, body, async ({ request }, { query: sql }) => {
    const format = request.headers.get("accept") === JSON_TYPE ? "json" : "arrow";
    const warnings: string[] = [];
    const warn = (warning: string) => void warnings.push(warning);
    try {
      if (!introspection) throw Failure.plain(503, "Cannot run the query: nobody is there for it");
      const query = { sql, format, version, running: [...running()], warn } as const;
      const rows = await introspection.query(query);
      const headers = new Headers({ "content-type": format === "json" ? JSON_TYPE : ARROW });
      if (warnings.length > 0) {
        for (const dialect of dialectsOf(request.headers)) {
          headers.set(header(dialect, "warning"), warnings.join("; "));
        }
      }
      return new Response(rows, { headers });
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      const later = cause.status === 429 ? { "retry-after": "1" } : {};
      return refuse(cause, dialectsOf(request.headers), later);
    }
  });
  return { "/query": { POST: route } };
}
