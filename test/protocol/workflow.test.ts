import { expect } from "vitest";
import { attach, byTarget, call, send, value } from "./_ask.ts";
import { type Check, idOf, protocolSuite } from "./_suite.ts";

const TWICE = { code: 409, message: "promise was already completed" };

/** Works the same however long `run` waits: with a stream open, and suspended. */
const promised = (service: string): Check => async ({ target, endpoint, named, id }) => {
  const flow = `${named(service)}/${id}`;
  expect(await value(target, `${flow}/peek`)).toBeNull();
  const run = await send(target, `${flow}/run`, id);
  const waiter = await send(target, `${flow}/wait`);
  await endpoint.happens(`${id} run`);
  if (service === "SleepyFlow") await endpoint.suspends(run);
  expect(await value(target, `${flow}/state`)).toEqual({ started: id });
  expect(await value(target, `${flow}/resolve`, { a: 1 })).toEqual({ value: null });
  expect(await value(target, `${flow}/resolve`, 2)).toMatchObject(TWICE);
  expect(await value(target, `${flow}/reject`, "late")).toMatchObject(TWICE);
  expect((await attach(target, run)).body).toEqual({ id, value: { a: 1 } });
  expect((await attach(target, waiter)).body).toEqual({ value: { a: 1 } });
  expect(await value(target, `${flow}/peek`)).toEqual({ a: 1 });
  expect(await value(target, `${flow}/wait`)).toEqual({ value: { a: 1 } });
  expect(await value(target, `${flow}/state`)).toEqual({ started: id, done: true });
};

const rejected: Check = async ({ target, endpoint, named, id }) => {
  const flow = `${named("Flow")}/${id}`;
  const run = await send(target, `${flow}/run`, id);
  await endpoint.happens(`${id} run`);
  expect(await value(target, `${flow}/reject`, "no way")).toEqual({ value: null });
  expect((await attach(target, run)).body).toMatchObject({ id, message: "no way" });
  expect(await value(target, `${flow}/resolve`, 1)).toMatchObject(TWICE);
  const { status, body } = await call(target, `${flow}/strictResolve`, 1);
  expect([status, body]).toMatchObject([409, { ...TWICE, source: "invocation" }]);
};

/** Resolved before `run` exists. */
const early: Check = async ({ target, named, id }) => {
  const flow = `${named("Flow")}/${id}`;
  expect(await value(target, `${flow}/resolve`, "early")).toEqual({ value: null });
  const answer = await call(target, `${flow}/run`, id);
  expect(answer.body).toEqual({ id, value: "early" });
  const lookup = { target: "workflow", workflowName: named("Flow"), workflowKey: id };
  const found = await byTarget(target, "attach", lookup);
  expect([found.body, idOf(target, found)]).toEqual([answer.body, idOf(target, answer)]);
};

const usedKey: Check = async ({ target, endpoint, named, id }) => {
  const flow = `${named("Flow")}/${id}`;
  const again = { service: named("Flow"), key: id, method: "run", parameter: id };
  const refusal = { code: 409, message: expect.any(String) };
  const url = `${target.ingress}/${target.word}/send/${flow}/run`;
  const submit = async () => {
    const head = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", body: JSON.stringify(id), headers: head });
    expect(response.status).toBe(202);
    return await response.json();
  };
  const { invocationId, status } = await submit();
  expect(status).toBe("Accepted");
  await endpoint.happens(`${id} run`);
  for (const moment of ["running", "completed"]) {
    if (moment === "completed") {
      await value(target, `${flow}/resolve`, 1);
      await attach(target, invocationId);
    }
    const answer = await call(target, `${flow}/run`, id);
    expect([answer.status, idOf(target, answer)]).toEqual([409, invocationId]);
    expect(answer.body).toMatchObject({ ...refusal, source: "invocation" });
    expect(await submit()).toMatchObject({ invocationId, status: "PreviouslyAccepted" });
    const called = await value(target, `${named("Plain")}/calls`, [again]);
    expect(called).toMatchObject([{ id: invocationId, ...refusal }]);
    expect(await value(target, `${named("Plain")}/sends`, [again])).toEqual([invocationId]);
  }
  expect(endpoint.count(`${id} run`)).toBe(1);
};

/** Every later call gets the same message (docs/spec/ingress.md#workflows), which clients compare. */
const refusal: Check = async ({ target, named, id }) => {
  const flow = `${named("Flow")}/${id}`, message = "Previously accepted";
  await value(target, `${flow}/resolve`, 1);
  await value(target, `${flow}/run`, id);
  expect((await call(target, `${flow}/run`, id)).body).toMatchObject({ code: 409, message });
  const again = { service: named("Flow"), key: id, method: "run", parameter: id };
  const called = await value(target, `${named("Plain")}/calls`, [again]);
  expect(called).toMatchObject([{ code: 409, message }]);
};

protocolSuite("workflows", {
  "39 a shared handler resolves a promise that run awaits, once": promised("Flow"),
  "39b the same when run is suspended": promised("SleepyFlow"),
  "39c a promise can be rejected, once": rejected,
  "39d a promise can be resolved before run exists": early,
  "85 run of a used key is refused, a submission answers the existing id": usedKey,
  "85b the refusal says that it was previously accepted": refusal,
});
