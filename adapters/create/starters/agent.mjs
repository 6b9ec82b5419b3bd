import { equal, ok } from "node:assert/strict";
import { after, before, test } from "node:test";
import { post, start } from "./server.mjs";

let running;
before(async () => void (running = await start()));
after(() => running?.stop());

/** Starts a run, and answers its question. Resolves with what it did. */
async function answered(run, isAllowed) {
  const { ingress, call } = running;
  ok((await post(`${ingress}/svc/send/Agent/${run}/run`, "Rome")).ok);
  equal((await call(`Agent/${run}/read`, 0)).text, "findFlight: Rome");
  const question = await call(`Agent/${run}/read`, 1);
  equal(question.text, "May I use book: flight F7 to Rome?");
  ok((await post(`${ingress}/svc/awakeables/${question.approval}/resolve`, isAllowed)).ok);
  return (await call(`Agent/${run}/read`, 3)).text;
}

test("the agent books when a human allows it", async () => {
  equal(await answered("allowed", true), "booked flight F7 to Rome.");
});

test("the agent does not book when a human forbids it", async () => {
  equal(await answered("forbidden", false), "was not allowed to book.");
});
