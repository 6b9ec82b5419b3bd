/** A reason why a process is not ready. */
export interface Unready {
  /** The partition that is not served. Absent: the reason concerns the whole process. */
  readonly partition?: number;
  /** Readable for anyone, so without secrets, addresses and paths. */
  readonly cause: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Returns why this process is not ready. Empty: it is. */
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

/** The response to `GET /ready`, on either port. */
export function readyAnswer(unready: readonly Unready[]): ReadyAnswer {
  if (unready.length === 0) return { status: 200, body: { ready: true } };
  const causes = unready.map((one) => ({ ...one, since: printTime(one.since) }));
  return { status: 503, body: { ready: false, causes } };
}

/** The reason and its time, as a part of a sentence for callers. */
export function printUnready({ cause, since }: Unready): string {
  return `${cause}, since ${printTime(since)}`;
}

function printTime(ms: number): string {
  return new Date(ms).toISOString();
}
