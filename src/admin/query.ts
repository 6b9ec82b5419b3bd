import type { DeploymentChoice } from "../engine/event.ts";
import { BadId, checkDeploymentId } from "../model/id.ts";
import { badQuery } from "./refusals.ts";
import type { Call } from "./route.ts";

/** The largest journal index a request may name: an unsigned 32-bit integer (http-api §3.2). */
const indexMax = 2 ** 32 - 1;

/** A query parameter that is `true` or `false`, absent means false. Throws a `Failure` 400. */
export function readFlag(call: Call, name: string): boolean {
  const value = readQuery(call, name) ?? "false";
  if (value === "true" || value === "false") return value === "true";
  throw badQuery(name, "expected 'true' or 'false'");
}

/** `from`: the last journal entry to keep, 0 when absent (§3.6). Throws a `Failure` 400. */
export function readFrom(call: Call): number {
  const digits = readQuery(call, "from") ?? "0";
  const from = /^\d{1,20}$/.test(digits) ? Number(digits) : NaN;
  if (from <= indexMax) return from;
  throw badQuery("from", `expected an integer from 0 to ${indexMax}`);
}

/** `deployment`, or undefined when the operation should choose (§3.6). Throws a `Failure` 400. */
export function readDeployment(call: Call): DeploymentChoice | undefined {
  const value = readQuery(call, "deployment");
  if (value === undefined) return undefined;
  try {
    return parseDeployment(value);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    throw badQuery("deployment", cause.message, { cause });
  }
}

/** `latest` or `keep`, as the path or the batch spells it, or a deployment id. Throws `BadId`. */
export function parseDeployment(value: string): DeploymentChoice {
  if (value === "latest" || value === "Latest") return { kind: "latest" };
  if (value === "keep" || value === "Keep") return { kind: "keep" };
  return { kind: "deployment", id: checkDeploymentId(value) };
}

/** The one value of a query parameter, decoded. Throws a `Failure` 400 when it has several. */
export function readQuery(call: Call, name: string): string | undefined {
  const [value, ...more] = new URL(call.url).searchParams.getAll(name);
  if (more.length > 0) throw badQuery(name, "it is given more than once");
  return value;
}
