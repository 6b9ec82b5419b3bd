import { afterAll, beforeAll, expect } from "vitest";
import { call, value } from "./_ask.ts";
import { attach, output, type Subject } from "./_outputs.ts";
import { line, stage } from "./_script_stage.ts";
import { type SdkEndpoint, startSdk } from "./_sdk.ts";
import { idOf, registered } from "./_suite.ts";

// Commands that no call of the TypeScript SDK sends, about invocations of its handlers.

const { target, play } = stage();
let endpoint: SdkEndpoint;
beforeAll(async () => {
  endpoint = await startSdk({ transport: "h2" });
  await registered(target(), endpoint);
}, 30_000);
afterAll(async () => await endpoint?.close());

const byId = (id: string): Subject => ({ case: "invocationId", value: id });
const byKey = (idempotencyKey: string): Subject => ({
  case: "idempotentRequestTarget",
  value: { serviceName: "Plain", handlerName: "hold", idempotencyKey },
});
const byFlow = (workflowKey: string): Subject => ({
  case: "workflowTarget",
  value: { workflowName: "Flow", workflowKey },
});

line("45b the output of what runs is void at once, later its value, by each target", async () => {
  const id = "outputs", kind = "GetInvocationOutputCompletion";
  const held = call(target(), "Plain/hold", id, { headers: { "idempotency-key": id } });
  const flow = value(target(), `Flow/${id}/run`, id);
  await endpoint.happens(`${id} hold`);
  await endpoint.happens(`${id} run`);
  const script = await play({}, async (attempt) => {
    await attempt.replay();
    await attempt.send(output(1, byKey(id)), output(2, byFlow(id)));
    const early = [await attempt.hear(), await attempt.hear()];
    expect(early).toEqual([`${kind} 1`, `${kind} 2`]);
    endpoint.release(id);
    const invocation = idOf(target(), await held);
    await value(target(), `Flow/${id}/resolve`, 1);
    const result = JSON.stringify(await flow);
    await attempt.send(output(3, byKey(id)), output(4, byFlow(id)), output(5, byId(invocation)));
    const pending = [await attempt.hear(), await attempt.hear(), await attempt.hear()];
    const quoted = (content: string) => JSON.stringify(content);
    expect(pending).toEqual([
      `${kind} 3 ${quoted(quoted(id))}`,
      `${kind} 4 ${quoted(result)}`,
      `${kind} 5 ${quoted(quoted(id))}`,
    ]);
    await attempt.send(output(6, byKey("nobody")), output(7, byFlow("nobody")));
    expect(await attempt.hear()).toBe(`${kind} 6 404 "not found"`);
    expect(await attempt.hear()).toBe(`${kind} 7 404 "not found"`);
    await attempt.succeed();
  });
  expect((await script.call()).status).toBe(200);
});

line("44c an attach by idempotency key and by workflow brings the result", async () => {
  const id = "attached", kind = "AttachInvocationCompletion";
  const held = call(target(), "Plain/hold", id, { headers: { "idempotency-key": id } });
  await endpoint.happens(`${id} hold`);
  const flow = value(target(), `Flow/${id}/run`, id);
  await endpoint.happens(`${id} run`);
  const script = await play({}, async (attempt) => {
    await attempt.replay();
    await attempt.send(attach(1, byKey(id)), attach(2, byFlow(id)), attach(3, byKey("nobody")));
    expect(await attempt.hear()).toBe(`${kind} 3 404 "not found"`);
    endpoint.release(id);
    expect(await attempt.hear()).toBe(`${kind} 1 ${JSON.stringify(JSON.stringify(id))}`);
    await value(target(), `Flow/${id}/resolve`, 1);
    const result = JSON.stringify({ id, value: 1 });
    expect(await attempt.hear()).toBe(`${kind} 2 ${JSON.stringify(result)}`);
    await attempt.succeed();
  });
  expect((await script.call()).status).toBe(200);
  expect((await held).body).toBe(id);
  expect(await flow).toEqual({ id, value: 1 });
});

line("44d an attach to what is no invocation id fails the attempt with RT0017", async () => {
  const script = await play({}, async (attempt) => {
    await attempt.replay();
    if (attempt.number > 1) {
      expect(["RT0017", undefined]).toContain(await script.failureCode(attempt.id));
      return await attempt.succeed();
    }
    await attempt.send(attach(1, byId("inv_nonsense")));
    await attempt.dismissed().then(() => attempt.end());
  });
  expect((await script.call()).status).toBe(200);
  expect(script.attempts).toHaveLength(2);
});
