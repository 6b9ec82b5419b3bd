/** Something that a client did, or tried, through the admin API (docs/security.md#audit). No body, no secret. */
export interface AuditRecord {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Name of the token, or subject of the JSON Web Token. Null: its token was not valid. */
  readonly identity: string | null;
  readonly method: string;
  /** The path of the route, with `:name` for parameters. */
  readonly route: string;
  /** Parameters of path and query, and ids in the body: each is cut. */
  readonly target: Readonly<Record<string, string>>;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Where the connection came from. Absent: the platform does not know. */
  readonly remoteAddress?: string;
  /** Refused requests before this one that were only counted. Absent: none. */
  readonly omitted?: number;
}

/** Which records are dropped. */
export interface AuditLimits {
  /** Older ones, in milliseconds since the epoch, … */
  readonly before: number;
  /** … and the oldest, when there are more. */
  readonly rowsMax: number;
}

/** Records of what clients did through the admin API. */
export interface AuditStore {
  /** Adds records. They are durable when it resolves. */
  add(records: readonly AuditRecord[]): Promise<void>;
  prune(limits: AuditLimits): Promise<void>;
}
