import { type Readiness, readyAnswer } from "../model/readiness.ts";
import type { Schema } from "../model/schema.ts";
import { json } from "./response.ts";
import type { Caller } from "./cors.ts";

/** `GET /svc/health`: the names of all registered services, private ones included. */
export function health(caller: Caller, schema: Schema): Response {
  return json(caller, { services: schema.services().map(({ name }) => name) }, { status: 200 });
}

/** `GET /svc/ready`: whether this process is ready, or 503 with the reasons why it is not. */
export async function ready(caller: Caller, readiness: Readiness): Promise<Response> {
  const { status, body } = readyAnswer(await readiness());
  return json(caller, body, { status });
}
