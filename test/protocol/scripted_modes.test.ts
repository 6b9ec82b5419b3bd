import { expect } from "vitest";
import { until } from "../support/child.ts";
import { say } from "./_script_say.ts";
import { attempt, line, recorded, stage, stays } from "./_script_stage.ts";

// Timers, killed and paused attempts, and modes (docs/spec/service-protocol.md#checklist).

const { play } = stage();

const text = new TextDecoder();

for (const transport of ["h2", "h1"] as const) {
  line(
    `69 sent nothing for the inactivity timeout over ${transport}, then a suspension`,
    async () => {
      const options = { inactivityTimeout: 100 };
      const script = await play({ transport, options }, async (one) => {
        const { said } = await one.replay();
        if (one.number === 2) {
          expect(said).toEqual(["Input", "Sleep 1", "SleepCompletion 1"]);
          return await one.succeed();
        }
        await one.send(say.sleep(1, Date.now() + 800));
        await one.until("the server to close its half", () => one.isAsked);
        await one.leave(say.suspend({ waitingCompletions: [1], waitingSignals: [1] }));
      });
      expect((await script.call()).status).toBe(200);
      expect(script.attempts).toHaveLength(2);
    },
  );
}

line(
  "70 sent nothing for the abort timeout either, then RT0001, and late frames are dropped",
  async () => {
    const options = { inactivityTimeout: 50, abortTimeout: 100 };
    const script = await play({ options }, async (one) => {
      const { said } = await one.replay();
      if (one.number === 1) {
        await one.send(say.run(1));
        await until("the next attempt", () => script.attempts.length > 1);
        await one.send(say.run(2), say.output("late"), say.end());
        return one.end();
      }
      await recorded(script, one.id, "RT0001");
      expect(said).toEqual(["Input", "Run 1"]);
      await one.succeed("in time");
    });
    expect((await script.call()).text).toBe("in time");
  },
);

line("71 given an inactivity timeout of 0, then the attempt is request and response", async () => {
  const script = await play({ options: { inactivityTimeout: 0 } }, async (one) => {
    await one.replay();
    await one.until("the server to close its half", () => one.isAsked);
    expect(one.received).toHaveLength(2);
    await one.succeed();
  });
  expect((await script.call()).status).toBe(200);
});

line("77 given a killed attempt, then what its endpoint still says is ignored", async () => {
  let isKilled = false;
  const script = await play({}, async (one) => {
    const { start } = await one.replay();
    if (one.handler === "look") {
      return await one.succeed(start.stateMap.map(({ key }) => text.decode(key)).join());
    }
    await one.send(say.set("before", "1"));
    await until("the kill", () => isKilled);
    await one.leave(say.set("after", "1"), say.output("late"), say.end());
  });
  const { object } = script;
  const called = script.call(`${object}/one/run`);
  const { id } = await attempt(script, 1);
  // So that what was said before is stored: the kill must not overtake it.
  await until("what was said first", async () => {
    return (await script.call(`${object}/one/look`)).text === "before";
  });
  expect((await script.operate(id, "kill")).status).toBe(200);
  isKilled = true;
  const { status, text: body } = await called;
  expect([status, JSON.parse(body)]).toMatchObject([409, { message: "killed" }]);
  const one = script.of(id)[0]!;
  await one.until("the end of the stream", () => one.isClosed);
  expect((await script.call(`${object}/one/look`)).text).toBe("before");
  expect(script.of(id)).toHaveLength(1);
});

line("78 given a pause while running, then it stays paused until it is resumed", async () => {
  const script = await play({}, async (one) => {
    const { said } = await one.replay();
    if (one.number === 2) {
      expect(said).toEqual(["Input", "Sleep 1", "SleepCompletion 1"]);
      return await one.succeed("resumed");
    }
    await one.send(say.sleep(1, Date.now() + 150));
    await one.until("the server to close its half", () => one.isAsked);
    await one.leave(say.suspend({ waitingCompletions: [1], waitingSignals: [1] }));
  });
  const called = script.call();
  const { id } = await attempt(script, 1);
  expect((await script.operate(id, "pause")).status).toBe(202);
  await stays("no second attempt", () => script.attempts.length === 1, 400);
  expect((await script.operate(id, "resume")).status).toBe(200);
  expect((await called).text).toBe("resumed");
  expect(script.attempts).toHaveLength(2);
});

line(
  "81 given HTTP/1.1 with both directions, then the server speaks while it listens",
  async () => {
    const script = await play({ transport: "h1" }, async (one) => {
      await one.replay();
      for (const id of [1, 2, 3]) {
        await one.send(say.run(id), say.ranTo(id, "r"));
        expect(await one.hear()).toBe(`RunCompletion ${id} "r"`);
      }
      await one.send(say.sleep(4, 1));
      expect(await one.hear()).toBe("SleepCompletion 4");
      expect(one.isAsked).toBe(false);
      await one.succeed();
    });
    expect((await script.call()).status).toBe(200);
    expect(script.attempts).toHaveLength(1);
    expect(script.attempts[0]!.exchange.httpVersion).toBe("1.1");
  },
);
