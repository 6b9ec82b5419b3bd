import type { TableNotes } from "./about.ts";

/** What docs/sql.md says of the table of `audit_table.ts`. */
export const auditNotes: Readonly<Record<string, TableNotes>> = {
  sys_audit: {
    rows:
      "Each change through the admin API, and each refused attempt ([audit](security.md#audit)).",
    columns: {
      id: "Ids sort by time.",
      created_at: "When it was answered.",
      identity: "Name of the token, or subject of the JSON Web Token; `none` where no token is " +
        "asked for, null where it was not valid.",
      method: "HTTP method.",
      route: "Path, with `:name` for parameters.",
      target: "JSON of parameters of path and query, and of ids in the body.",
      status: "HTTP status of the answer.",
      remote_address: "Where the connection came from; null where that is not known.",
      omitted: "Refused attempts before this one that were only counted.",
    },
  },
};
