import process from "node:process";
import { type Code, errors } from "../../src/error_codes.ts";
import { Failure } from "../../src/errors.ts";
import { SqlError } from "../libsql/sql_error.ts";

/** A reason not to start for which the table of errors has no advice that fits. */
export class StartFailure extends Failure {
  override name = "StartFailure";
  /** What to do, in one sentence. */
  readonly advice: string;

  constructor(code: Code, detail: string, options: ErrorOptions & { readonly advice: string }) {
    super(code, detail, options);
    this.advice = options.advice;
  }
}

/** Prints in one line why the server does not start and what to do. Only a bug shows a stack. */
export function reportStartFailure(cause: unknown): void {
  process.stderr.write(`${explain(cause)}\n`);
}

function explain(cause: unknown): string {
  if (cause instanceof Failure) {
    const { code, message } = cause;
    if (cause instanceof StartFailure) return `${message}. ${cause.advice}`;
    return code === null ? message : `${message}. ${errors[code].fix}`;
  }
  if (cause instanceof SqlError && /^SQLITE_(CORRUPT|NOTADB)/.test(cause.code)) {
    return `[RT0028] Cannot read the database: ${cause.message}. ${errors.RT0028.fix}`;
  }
  // Errors with a code come from the file system, the network or the database, and explain themselves.
  if (cause instanceof Error && "code" in cause) return `Cannot start: ${cause.message}`;
  return `Cannot start: ${cause instanceof Error ? cause.stack : String(cause)}`;
}

export interface Address {
  readonly host: string;
  readonly port: number;
  /** `ingress` or `admin`: names the settings that choose another address. */
  readonly what: string;
}

/** RT0004, from what Node (`code`) or Deno (`name`) rejected with. */
export function listenFailure({ host, port, what }: Address, cause: unknown): Failure {
  const { code, name, message } = cause as { code?: string; name?: string; message?: string };
  const known = REASONS[code ?? ""] ?? REASONS[name ?? ""];
  const key = known?.isAddress ? "bind-address" : "bind-port";
  const advice = known?.advice ?? errors.RT0004.fix;
  return new StartFailure(
    "RT0004",
    `Cannot listen on ${host}:${port} for ${what}: ${known?.text ?? message ?? String(cause)}` +
      ` ("${what}.${key}")`,
    { cause, advice },
  );
}

interface Reason {
  readonly text: string;
  /** What to do. */
  readonly advice: string;
  readonly isAddress?: boolean;
}

const TAKEN: Reason = {
  text: "the port is in use",
  advice: "Stop the process that uses the port, or choose another port.",
};
const FORBIDDEN: Reason = {
  text: "this user may not use the port",
  advice: "Choose a port above 1023, or let this user bind lower ones.",
};
const ELSEWHERE: Reason = {
  text: "this machine has no such address",
  advice: "Choose an address of this machine, or 0.0.0.0 for all of them.",
  isAddress: true,
};
const UNKNOWN: Reason = {
  text: "no such host",
  advice: "Choose an address of this machine, or a name that resolves to one.",
  isAddress: true,
};

const REASONS: Readonly<Record<string, Reason>> = {
  EADDRINUSE: TAKEN,
  AddrInUse: TAKEN,
  EACCES: FORBIDDEN,
  PermissionDenied: FORBIDDEN,
  EADDRNOTAVAIL: ELSEWHERE,
  AddrNotAvailable: ELSEWHERE,
  ENOTFOUND: UNKNOWN,
};
