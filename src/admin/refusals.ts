import { Failure } from "../errors.ts";

const QUOTED_MAX = 200;

/** A string from outside, quoted and cut to 200 characters, so that it is safe in a message. */
export function quote(text: string): string {
  return `'${text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text}'`;
}

/** A field has the right type and a value that cannot be used: 400 (http-api §3.1, §3.4). */
export function badField(field: string, reason: string): Failure {
  return Failure.plain(400, `The request field '${field}' is invalid. Reason: ${reason}`);
}

/** JSON that is not what the operation takes: 422, with the path to what is wrong (§3.1). */
export function wrongShape(path: string, reason: string, options?: ErrorOptions): Failure {
  const where = path === "" ? "" : `at ${quote(path)}, `;
  return Failure.plain(422, `Cannot use the request body: ${where}${reason}`, options);
}

/** A thing named in the path does not exist: 404 (§3.4, §3.5). */
export function missing(kind: "deployment" | "service", name: string): Failure {
  return Failure.plain(404, `The requested ${kind} ${quote(name)} does not exist`);
}
