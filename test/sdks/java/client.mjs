// What the ingress client of the SDK tells; of a failure only its status.
import { call, check, ingress, note, world } from "./world.mjs";

const CALLS = {
  "call": "200 hi",
  "call headers": "200 {x-check=c} true",
  "call object": "200 2",
  "call idempotent": "200 4",
  "call again": "200 4",
  "call async": "200 async",
  "call raw": "2",
  "call fails": 418,
  "call unknown": 404,
  "call private": 400,
};

const SENDS = {
  "send": "202 ACCEPTED true",
  "send again": "202 PREVIOUSLY_ACCEPTED true",
  "send attach": "200 once",
  "idempotent attach": "200 once",
  "idempotent output": "200 once",
  "late output": "470 not ready",
  "late attach": "200 late",
  "late output after": "200 late",
  "attach unknown": 404,
  "output unknown": 404,
  "attach malformed": 400,
  "attach failed": 418,
  "output failed": 418,
};

const AWAKEABLES = {
  "awakeable true": "202",
  "awoken true": "200 got woken",
  "awakeable false": "202",
  "awoken false": 500,
  "awakeable malformed": 400,
};

const WORKFLOWS = {
  "workflow submit": "202 ACCEPTED",
  "workflow again": "202 PREVIOUSLY_ACCEPTED true",
  "workflow call again": 409,
  "workflow output": "470 not ready",
  "workflow go": "200 told",
  "workflow attach": "200 in now false now",
  "workflow output after": "200 in now false now",
  "workflow unknown": 404,
  "workflow output unknown": 404,
};

/** The handler that drives the client. */
export const client = () =>
  check("the ingress client", { ...CALLS, ...SENDS, ...AWAKEABLES, ...WORKFLOWS }, async () => {
    const { value } = await call("Driver/all", { ingress, id: `${world.id}d` });
    note("the ingress client, in words", value);
    const brief = (told) => told.includes('{"') ? parseInt(told, 10) : told;
    return Object.fromEntries(Object.entries(value).map(([what, told]) => [what, brief(told)]));
  });
