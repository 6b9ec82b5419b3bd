/** Something that keeps a process from doing all it should. */
export interface Unready {
  /** The partition that is not served. Absent: it is about the process as a whole. */
  readonly partition?: number;
  /** For strangers, so without secrets, addresses and paths. */
  readonly cause: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Answers what keeps this process from doing all it should: nothing, if it is ready. */
export type Readiness = () => Promise<readonly Unready[]>;

/** The answer to `GET /ready`: 200, or 503 with the causes, as JSON. */
export interface ReadyAnswer {
  readonly status: 200 | 503;
  readonly body: {
    readonly ready: boolean;
    readonly causes?: readonly {
      readonly partition?: number;
      readonly cause: string;
      /** RFC 3339. */
      readonly since: string;
    }[];
  };
}

/** What `GET /ready` answers, on either port. */
export function readyAnswer(unready: readonly Unready[]): ReadyAnswer {
  if (unready.length === 0) return { status: 200, body: { ready: true } };
  const causes = unready.map((one) => ({ ...one, since: printTime(one.since) }));
  return { status: 503, body: { ready: false, causes } };
}

/** What is wrong and since when, within a sentence for a caller. */
export function printUnready({ cause, since }: Unready): string {
  return `${cause}, since ${printTime(since)}`;
}

function printTime(ms: number): string {
  return new Date(ms).toISOString();
}
