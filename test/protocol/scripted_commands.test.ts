import { expect } from "vitest";
import type { Play } from "./_script.ts";
import type { Replay } from "./_script_attempt.ts";
import { join, say } from "./_script_say.ts";
import { line, recorded, stage } from "./_script_stage.ts";

// Commands and notifications (service protocol §8.3), frame by frame.

const { prepare, play } = stage();

const text = new TextDecoder();

function stateOf({ start }: Replay): Record<string, string> {
  return Object.fromEntries(
    start.stateMap.map(({ key, value }) => [text.decode(key), text.decode(value)]),
  );
}

/** Answers with the state it was sent. */
const look: Play = async (attempt) => {
  await attempt.succeed(JSON.stringify(stateOf(await attempt.replay())));
};

line("30 given proposals out of order, then their order is kept, and replayed", async () => {
  const results = [3, 1, 2].map((id) => `RunCompletion ${id} "r${id}"`);
  const script = await play({}, async (attempt) => {
    const { said } = await attempt.replay();
    if (attempt.number === 1) {
      await attempt.send(say.run(1), say.run(2), say.run(3));
      await attempt.send(say.ranTo(3, "r3"));
      const heard = [await attempt.hear()];
      await attempt.send(say.ranTo(1, "r1"), say.ranTo(2, "r2"));
      heard.push(await attempt.hear(), await attempt.hear());
      expect(heard).toEqual(results);
      return await attempt.leave(say.error({ code: 500, message: "again" }));
    }
    expect(said).toEqual(["Input", "Run 1", "Run 2", "Run 3", ...results]);
    await attempt.succeed();
  });
  expect((await script.call()).status).toBe(200);
  expect(script.attempts).toHaveLength(2);
});

line("37 given a call of an unknown service, then RT0018, until it is registered", async () => {
  const callee = await prepare({}, async (attempt) => {
    await attempt.replay();
    await attempt.succeed("called");
  });
  const script = await play({}, async (attempt) => {
    const { said } = await attempt.replay();
    if (attempt.number === 2) {
      await recorded(script, attempt.id, "RT0018");
    }
    if (attempt.number === 3) await callee.register();
    expect(said).toEqual(["Input"]);
    await attempt.send(say.call(1, { service: callee.name, handler: "run" }));
    if (attempt.number < 3) return await attempt.dismissed().then(() => attempt.end());
    expect(await attempt.hear()).toBe("CallInvocationIdCompletion 1 inv");
    expect(await attempt.hear()).toBe('CallCompletion 2 "called"');
    await attempt.succeed();
  });
  expect((await script.call()).status).toBe(200);
  expect(script.attempts).toHaveLength(3);
});

line("46 given a thousand SetState, Output and End in one go, then all are applied", async () => {
  const script = await play({}, async (attempt) => {
    if (attempt.handler === "look") return await look(attempt);
    await attempt.replay();
    const sets = Array.from({ length: 1000 }, (_, i) => say.set(`k${i % 7}`, String(i)));
    await attempt.leave(join(...sets), say.output("all"), say.end());
  });
  const { object } = script;
  expect((await script.call(`${object}/one/run`)).text).toBe("all");
  const state = JSON.parse((await script.call(`${object}/one/look`)).text);
  // The last of each key: 994 to 999 are of the keys 0 to 5, 993 of key 6.
  expect(state).toEqual({
    k0: "994",
    k1: "995",
    k2: "996",
    k3: "997",
    k4: "998",
    k5: "999",
    k6: "993",
  });
});

line("84 given a shared handler that says SetState, then RT0017, and state stays", async () => {
  const script = await play({}, async (attempt) => {
    const replay = await attempt.replay();
    if (attempt.handler === "run") {
      return await attempt.leave(say.set("k", "good"), say.output("set"), say.end());
    }
    if (attempt.number > 1) {
      await recorded(script, attempt.id, "RT0017");
      expect(replay.said).toEqual(["Input"]);
      return await attempt.succeed(JSON.stringify(stateOf(replay)));
    }
    await attempt.leave(say.set("k", "bad"), say.output("never"), say.end());
  });
  const { object } = script;
  expect((await script.call(`${object}/one/run`)).text).toBe("set");
  expect((await script.call(`${object}/one/look`)).text).toBe('{"k":"good"}');
});
