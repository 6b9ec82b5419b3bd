import { equal, match } from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "./server.mjs";

let running;
before(async () => void (running = await start()));
after(() => running?.stop());

test("a call is answered", async () => {
  match(await running.call("Greeter/greet", "Ada"), /^Hello Ada, it was \d{4}-/);
});

test("with an idempotency key, a second request gets the result of the first", async () => {
  const url = `${running.ingress}/svc/call/Greeter/greet`;
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "once" },
    body: JSON.stringify("Grace"),
  };
  const [first, second] = await Promise.all([fetch(url, init), fetch(url, init)]);
  equal(first.status, 200);
  equal(await second.text(), await first.text());
});
