import type { Schema } from "../model/schema.ts";
import { json } from "./answer.ts";
import type { Caller } from "./cors.ts";

/** `GET /svc/health`: what can be called here, private services included (http-api §2.1). */
export function health(caller: Caller, schema: Schema): Response {
  return json(caller, { services: schema.services().map(({ name }) => name) }, { status: 200 });
}
