import { afterAll, beforeAll, expect } from "vitest";
import { type Answer, request } from "./_ask.ts";
import { FLOW_CONTROL } from "./_scoped.ts";
import { attach, output, type Subject } from "./_outputs.ts";
import { line, recorded, stage } from "./_script_stage.ts";
import type { Script } from "./_script.ts";
import { type SdkEndpoint, startSdk } from "./_sdk.ts";
import { registered } from "./_suite.ts";

// Attach and output commands whose target has a scope (version 7, fields 3 and 5 of the targets). No call
// of the TypeScript SDK sends them; what they are about are invocations of its handlers.

const { target, play } = stage({ ...FLOW_CONTROL, "default-num-partitions": "4" });
let endpoint: SdkEndpoint;
beforeAll(async () => {
  endpoint = await startSdk({ transport: "h2" });
  await registered(target(), endpoint);
}, 30_000);
afterAll(async () => await endpoint?.close());

type Scope = { readonly scope?: string };

const byKey = (idempotencyKey: string, scope: Scope): Subject => ({
  case: "idempotentRequestTarget",
  value: { serviceName: "Plain", handlerName: "hold", idempotencyKey, ...scope },
});
const byObject = (idempotencyKey: string, scope: Scope): Subject => ({
  case: "idempotentRequestTarget",
  value: {
    serviceName: "Store",
    serviceKey: idempotencyKey,
    handlerName: "hold",
    idempotencyKey,
    ...scope,
  },
});
const byFlow = (workflowKey: string, scope: Scope): Subject => ({
  case: "workflowTarget",
  value: { workflowName: "Flow", workflowKey, ...scope },
});

/** Calls in a scope, or in none, and gives what is held a name of its own. */
function called(scope: string | undefined, path: string, id: string): Promise<Answer> {
  const { ingress, word } = target();
  const place = scope === undefined ? "" : `scope/${scope}/`;
  return request("POST", `${ingress}/${word}/${place}call/${path}`, {
    body: JSON.stringify(nameIn(scope, id)),
    headers: { "content-type": "application/json", "idempotency-key": id },
  });
}

const nameIn = (scope: string | undefined, id: string) => `${id}-${scope ?? "none"}`;
const SCOPES = ["red", "blue", undefined] as const;
const of = (scope: string | undefined): Scope => (scope === undefined ? {} : { scope });
const quoted = (value: unknown) => JSON.stringify(JSON.stringify(value));

line("99e an attach to a target in a scope brings the result of that scope", async () => {
  const id = "attached", kind = "AttachInvocationCompletion";
  const held = SCOPES.map((scope) => called(scope, "Plain/hold", id));
  const objects = SCOPES.map((scope) => called(scope, `Store/${id}o/hold`, `${id}o`));
  for (const scope of SCOPES) {
    await endpoint.happens(`${nameIn(scope, id)} hold`);
    await endpoint.happens(`${nameIn(scope, `${id}o`)} hold`);
  }
  const script = await play({}, async (one) => {
    await one.replay();
    for (const [i, scope] of SCOPES.entries()) {
      await one.send(attach(2 * i + 1, byKey(id, of(scope))));
      await one.send(attach(2 * i + 2, byObject(`${id}o`, of(scope))));
    }
    await one.send(attach(9, byKey(id, of("green"))));
    expect(await one.hear()).toBe(`${kind} 9 404 "not found"`);
    for (const [i, scope] of SCOPES.entries()) {
      for (const [more, name] of [id, `${id}o`].entries()) {
        endpoint.release(nameIn(scope, name));
        expect(await one.hear())
          .toBe(`${kind} ${2 * i + 1 + more} ${quoted(nameIn(scope, name))}`);
      }
    }
    await one.succeed("heard");
  });
  expect((await script.call()).text).toBe("heard");
  for (const one of await Promise.all([...held, ...objects])) expect(one.status).toBe(200);
});

line("99f the output of a target in a scope is void at once, later its value", async () => {
  const id = "outputs", kind = "GetInvocationOutputCompletion";
  const held = SCOPES.map((scope) => called(scope, "Plain/hold", id));
  for (const scope of SCOPES) await endpoint.happens(`${nameIn(scope, id)} hold`);
  const script = await play({}, async (one) => {
    await one.replay();
    for (const [i, scope] of SCOPES.entries()) {
      await one.send(output(i + 1, byKey(id, of(scope))));
      expect(await one.hear()).toBe(`${kind} ${i + 1}`);
      endpoint.release(nameIn(scope, id));
      await held[i];
      await one.send(output(i + 11, byKey(id, of(scope))));
      expect(await one.hear()).toBe(`${kind} ${i + 11} ${quoted(nameIn(scope, id))}`);
    }
    await one.send(output(21, byKey(id, of("green"))));
    expect(await one.hear()).toBe(`${kind} 21 404 "not found"`);
    await one.succeed("heard");
  });
  expect((await script.call()).text).toBe("heard");
});

line("99g a workflow in a scope is found by its target, and only in that scope", async () => {
  const { ingress, word } = target(), id = "flowing";
  const post = (path: string, body: unknown) =>
    request("POST", `${ingress}/${word}/scope/red/call/Flow/${id}/${path}`, {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  const flow = post("run", id);
  await endpoint.happens(`${id} run`);
  const script = await play({}, async (one) => {
    await one.replay();
    await one.send(attach(1, byFlow(id, of("red"))), output(2, byFlow(id, of("red"))));
    expect(await one.hear()).toBe("GetInvocationOutputCompletion 2");
    for (const [i, scope] of ["blue", undefined].entries()) {
      await one.send(attach(3 + i, byFlow(id, of(scope))), output(5 + i, byFlow(id, of(scope))));
      const heard = [await one.hear(), await one.hear()].toSorted();
      expect(heard).toEqual([
        `AttachInvocationCompletion ${3 + i} 404 "not found"`,
        `GetInvocationOutputCompletion ${5 + i} 404 "not found"`,
      ]);
    }
    await post("resolve", 1);
    const result = quoted({ id, value: 1 });
    expect(await one.hear()).toBe(`AttachInvocationCompletion 1 ${result}`);
    await flow;
    await one.send(output(7, byFlow(id, of("red"))));
    expect(await one.hear()).toBe(`GetInvocationOutputCompletion 7 ${result}`);
    await one.succeed("heard");
  });
  expect((await script.call()).text).toBe("heard");
});

const BAD = {
  "attach by key": attach(1, byKey("x", { scope: "a b" })),
  "attach to a workflow": attach(1, byFlow("x", { scope: "a b" })),
  "output by key": output(1, byKey("x", { scope: "a b" })),
  "output of a workflow": output(1, byFlow("x", { scope: "a b" })),
  "output in an empty scope": output(1, byKey("x", { scope: "" })),
};

line("99h a target in a scope that is none fails the attempt with RT0024", async () => {
  for (const [what, command] of Object.entries(BAD)) {
    const script: Script = await play({}, async (one) => {
      await one.replay();
      if (one.number === 1) return await one.leave(command);
      await recorded(script, one.id, "RT0024");
      await one.succeed("refused");
    });
    expect((await script.call()).text, what).toBe("refused");
  }
});
