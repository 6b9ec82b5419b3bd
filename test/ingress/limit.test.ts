import { expect, it } from "vitest";
import { fixture } from "./_fixture.ts";

it("a request is refused while too many others are in progress, and taken again after them", async () => {
  const { serve } = fixture({ requestsMax: 1 });
  const ask = () => serve(new Request("http://x/svc/call/Svc/opt", { method: "POST" }));
  const first = ask();
  const refused = await ask();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toEqual({
    code: 429,
    message: "too many requests, the ingress is overloaded. Retry later.",
    source: "ingress",
  });
  expect((await first).status).toBe(200);
  expect((await ask()).status).toBe(200);
});
