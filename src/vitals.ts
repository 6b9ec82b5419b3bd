/** How the process does, for metrics. Totals are since it began. */
export interface Vitals {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly cpuMs: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Open file descriptors and the most there may be. Absent: the system does not report it. */
  readonly descriptors?: { readonly open: number; readonly max: number } | undefined;
  /** Threads of the process. Absent: the system does not report it. */
  readonly threads?: number | undefined;
  /** Database files. Absent: the rows are elsewhere. */
  readonly databases?: readonly DatabaseSize[] | undefined;
  /** What is open on the network, by interface. Interfaces that cannot be counted are absent. */
  readonly traffic?: readonly Traffic[];
}

/** Size of one database. */
export interface DatabaseSize {
  /** Name of its file. */
  readonly name: string;
  readonly bytes: number;
  /** The file of its write-ahead log. */
  readonly walBytes: number;
}

/** What one interface of the process has open. */
export interface Traffic {
  /** `ingress`, `admin`, `fleet`; `endpoints`: what this process has dialed. */
  readonly interface: string;
  readonly connections: Readonly<Record<ConnectionState, number>>;
  /** HTTP/2 streams. */
  readonly streams: number;
  /** Bytes that were written and that the system has not taken yet. */
  readonly queuedBytes: number;
}

/**
 * `connecting`: dialed, not accepted yet. `fresh`: accepted, and the peer has not shown which version
 * it speaks. `http1`, `http2`: in use or kept for the next request. `closing`: ended from this side.
 */
export type ConnectionState = (typeof CONNECTION_STATES)[number];

export const CONNECTION_STATES = ["connecting", "fresh", "http1", "http2", "closing"] as const;
