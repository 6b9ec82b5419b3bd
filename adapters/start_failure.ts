import process from "node:process";
import { errors } from "../src/error_codes.ts";
import { Failure } from "../src/errors.ts";

/** Prints in one line why the server does not start and what to do. Only a bug shows a stack. */
export function complain(cause: unknown): void {
  process.stderr.write(`${explain(cause)}\n`);
}

function explain(cause: unknown): string {
  if (cause instanceof Failure) {
    return cause.code === null ? cause.message : `${cause.message}. ${errors[cause.code].fix}`;
  }
  // The file system, the network and the database say what is wrong in their own words.
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
  return new Failure(
    "RT0004",
    `Cannot listen on ${host}:${port} for ${what}: ${known?.text ?? message ?? String(cause)}` +
      ` ("${what}.${key}")`,
    { cause },
  );
}

interface Reason {
  readonly text: string;
  readonly isAddress?: boolean;
}

const TAKEN: Reason = { text: "the port is in use" };
const FORBIDDEN: Reason = { text: "this user may not use the port" };
const ELSEWHERE: Reason = { text: "this machine has no such address", isAddress: true };
const UNKNOWN: Reason = { text: "no such host", isAddress: true };

const REASONS: Readonly<Record<string, Reason>> = {
  EADDRINUSE: TAKEN,
  AddrInUse: TAKEN,
  EACCES: FORBIDDEN,
  PermissionDenied: FORBIDDEN,
  EADDRNOTAVAIL: ELSEWHERE,
  AddrNotAvailable: ELSEWHERE,
  ENOTFOUND: UNKNOWN,
};
