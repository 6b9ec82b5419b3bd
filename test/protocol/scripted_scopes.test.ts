import { expect } from "vitest";
import type { Script } from "./_script.ts";
import { type Callee, say } from "./_script_say.ts";
import { line, recorded, stage } from "./_script_stage.ts";

// Scopes and limit keys that no SDK would send, or that are refused
// (docs/spec/service-protocol.md#refused-commands).

const { play, target } = stage({
  "experimental-enable-vqueues": "true",
  "experimental-enable-protocol-v7": "true",
});

const charset = "value contains characters outside the allowed set [a-zA-Z0-9_.-]";
const tooMany = "too many path components in the given limit-key (max 2)";
const refusals: readonly (readonly [string, Partial<Callee>, code: string, words: string])[] = [
  [
    "scope",
    { scope: "a b", limitKey: "a/b/c" },
    "RT0024",
    `the provided scope 'a b' is invalid: ${charset}`,
  ],
  [
    "limit key",
    { scope: "a", limitKey: "a/b/c" },
    "RT0024",
    `the provided limit key 'a/b/c' is invalid: ${tooMany}`,
  ],
  [
    "limit key and no scope",
    { limitKey: "a" },
    "RT0024",
    "limit key was provided without a scope. Limit keys take effect only when used in combination " +
    "with scope",
  ],
];

async function isRefused(script: Script, id: string, code: string, words: string): Promise<void> {
  await recorded(script, id, code);
  const text = await script.failureText(id);
  if (text !== undefined) expect(text).toContain(words);
}

for (const [what, contents, code, words] of refusals) {
  line(`99 given a call with a bad ${what}, then ${code}, and it is tried again`, async () => {
    const script: Script = await play({}, async (one) => {
      const { said } = await one.replay();
      expect(said).toEqual(["Input"]);
      if (one.number === 1) {
        return await one.leave(say.call(1, { service: script.name, handler: "run", ...contents }));
      }
      await isRefused(script, one.id, code, words);
      await one.succeed("refused");
    });
    expect((await script.call()).text).toBe("refused");
  });
}

line(
  "99b given a call of an object in a scope, where only services have one, then RT0017",
  async () => {
    const script: Script = await play({}, async (one) => {
      await one.replay();
      if (one.number === 1) {
        const callee = { service: script.object, key: "k", handler: "run", scope: "a" };
        return await one.leave(say.call(1, callee));
      }
      const words = "scope is not supported for Virtual Object targets";
      await isRefused(script, one.id, "RT0017", words);
      await one.succeed("refused");
    });
    expect((await script.call()).text).toBe("refused");
    const { ingress, word } = target();
    const path = `${ingress}/${word}/scope/a/call/${script.object}/k/run`;
    const { status, text } = await script.post(path, {});
    expect([status, JSON.parse(text)]).toMatchObject([400, {
      message: "scope is not supported for Virtual Object targets",
    }]);
  },
);

line("99c given a call with an empty scope and limit key, then it has none", async () => {
  const callee = await play({}, async (one) => {
    const { start } = await one.replay();
    await one.succeed(JSON.stringify([start.scope ?? null, start.limitKey ?? null]));
  });
  const script = await play({}, async (one) => {
    await one.replay();
    const empty = { scope: "", limitKey: "" };
    await one.send(say.call(1, { service: callee.name, handler: "run", ...empty }));
    expect(await one.hear()).toBe("CallInvocationIdCompletion 1 inv");
    expect(await one.hear()).toBe(`CallCompletion 2 ${JSON.stringify("[null,null]")}`);
    await one.succeed("called");
  });
  expect((await script.call()).text).toBe("called");
});

line("99d given an endpoint of version 6, then a call in a scope runs there unseen", async () => {
  const script = await play({ max: 6 }, async (one) => {
    const { start } = await one.replay();
    expect([start.scope, start.limitKey, start.idempotencyKey]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    await one.succeed(one.contentType);
  });
  const { ingress, word } = target();
  const path = `${ingress}/${word}/scope/a/call/${script.name}/run?limit-key=b`;
  expect((await script.post(path, {})).text).toBe("application/vnd.restate.invocation.v6");
});
