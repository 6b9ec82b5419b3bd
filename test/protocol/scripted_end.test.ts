import { expect } from "vitest";
import { say } from "./_script_say.ts";
import { gaps, line, recorded, stage } from "./_script_stage.ts";

// How an attempt ends by a message of its own (docs/spec/service-protocol.md#checklist).

const { play } = stage();

const again = say.error({ code: 500, message: "again" });

line("47 given Output and End, then it is complete, and the server closes its half", async () => {
  const script = await play({}, async (attempt) => {
    await attempt.replay();
    await attempt.send(say.output("good"), say.end());
    await attempt.until("the server to close its half", () => attempt.isAsked);
    expect(attempt.isClosed).toBe(false);
    attempt.end();
  });
  expect((await script.call()).text).toBe("good");
  const one = script.attempts[0]!;
  await one.until("the end of the stream", () => one.isClosed);
  expect(one.received).toHaveLength(2);
});

line("48 given Output with a failure, then no retry, and the caller is told", async () => {
  const script = await play({}, async (attempt) => {
    await attempt.replay();
    await attempt.leave(say.fail(418, "no coffee"), say.end());
  });
  const { status, text } = await script.call();
  expect([status, JSON.parse(text)]).toMatchObject([418, { code: 418, message: "no coffee" }]);
  expect(script.attempts).toHaveLength(1);
});

line("49 given End without Output, then the attempt fails and is tried again", async () => {
  const script = await play({}, async (attempt) => {
    const { said } = await attempt.replay();
    if (attempt.number === 1) return await attempt.leave(say.run(1), say.end());
    expect(said).toEqual(["Input", "Run 1"]);
    await attempt.succeed("better");
  });
  expect((await script.call()).text).toBe("better");
  expect((await script.call()).text).toBe("better");
});

line("50 given two Outputs, then the last counts", async () => {
  const script = await play({}, async (attempt) => {
    await attempt.replay();
    await attempt.leave(say.output("first"), say.output("second"), say.end());
  });
  expect((await script.call()).text).toBe("second");
});

for (const mode of ["BIDI_STREAM", "REQUEST_RESPONSE"] as const) {
  line(`51 given a Suspension on what is there already (${mode}), then a new attempt`, async () => {
    const script = await play({ mode }, async (attempt) => {
      const { said } = await attempt.replay();
      if (attempt.number === 1) {
        const words = [say.run(1), say.ranTo(1, "ran")];
        return await attempt.leave(...words, say.suspend({ waitingCompletions: [1] }));
      }
      expect(said).toEqual(["Input", "Run 1", 'RunCompletion 1 "ran"']);
      await attempt.succeed();
    });
    expect((await script.call()).status).toBe(200);
    expect(script.attempts).toHaveLength(2);
  });
}

line("52 given a Suspension, then what it awaits wakes it, and nothing else does", async () => {
  const script = await play({ mode: "REQUEST_RESPONSE" }, async (attempt) => {
    const { said } = await attempt.replay();
    if (attempt.number === 1) {
      const now = Date.now();
      const words = [say.sleep(1, now + 150), say.sleep(2, now + 500)];
      const awaited = { waitingCompletions: [2], waitingSignals: [1, 17] };
      return await attempt.leave(...words, say.suspend(awaited));
    }
    const slept = ["SleepCompletion 1", "SleepCompletion 2"];
    expect(said).toEqual(["Input", "Sleep 1", "Sleep 2", ...slept]);
    await attempt.succeed();
  });
  expect((await script.call()).status).toBe(200);
  expect(script.attempts).toHaveLength(2);
});

line("55 given an empty Suspension, then RT0012 and a retry", async () => {
  const script = await play({}, async (attempt) => {
    const { said } = await attempt.replay();
    if (attempt.number === 1) return await attempt.leave(say.run(1), say.suspend({}));
    await recorded(script, attempt.id, "RT0012");
    expect(said).toEqual(["Input", "Run 1"]);
    await attempt.succeed();
  });
  expect((await script.call()).status).toBe(200);
  expect(script.attempts).toHaveLength(2);
});

line("56 given Errors without hints, then retries with growing delays, same journal", async () => {
  const options = { retryPolicyInitialInterval: 100, retryPolicyMaxInterval: 10_000 };
  const script = await play({ options }, async (attempt) => {
    const { start, said } = await attempt.replay();
    expect(start.retryCountSinceLastStoredEntry).toBe(attempt.number - 1);
    expect(said).toEqual(attempt.number === 1 ? ["Input"] : ["Input", "Run 1"]);
    if (attempt.number === 1) return await attempt.leave(say.run(1), again);
    if (attempt.number < 4) return await attempt.leave(again);
    await attempt.succeed();
  });
  expect((await script.call()).status).toBe(200);
  const delays = gaps(script);
  expect(delays).toHaveLength(3);
  for (const [i, delayMs] of [100, 200, 400].entries()) {
    expect(delays[i]).toBeGreaterThanOrEqual(delayMs);
    // Up to 30 % by chance, and what a busy machine adds.
    expect(delays[i]).toBeLessThan(delayMs * 1.3 + 3_000);
  }
});

line(
  "57 given an Error with a delay of its own, then it counts, and no attempt is used up",
  async () => {
    const options = {
      retryPolicyInitialInterval: 20,
      retryPolicyMaxAttempts: 2,
      retryPolicyOnMaxAttempts: "KILL",
    };
    const script = await play({ options }, async (attempt) => {
      await attempt.replay();
      if (attempt.number > 1) return await attempt.leave(again);
      await attempt.leave(say.error({ code: 500, message: "later", nextRetryDelay: 2_000n }));
    });
    const { status, text } = await script.call();
    expect([status, JSON.parse(text)]).toMatchObject([500, { message: "again" }]);
    expect(script.attempts).toHaveLength(3);
    const [first, second] = gaps(script);
    expect(first).toBeGreaterThanOrEqual(1_990);
    expect(second).toBeLessThan(1_990);
  },
);
