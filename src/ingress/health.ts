import { type Readiness, readyAnswer } from "../model/readiness.ts";
import type { Schema } from "../model/schema.ts";
import { json } from "./response.ts";
import type { Caller } from "./cors.ts";

/** `GET /svc/health`: what can be called here, private services included. */
export function health(caller: Caller, schema: Schema): Response {
  return json(caller, { services: schema.services().map(({ name }) => name) }, { status: 200 });
}

/** `GET /svc/ready`: whether this process does all it should, or 503 with what keeps it from that. */
export async function ready(caller: Caller, readiness: Readiness): Promise<Response> {
  const { status, body } = readyAnswer(await readiness());
  return json(caller, body, { status });
}
