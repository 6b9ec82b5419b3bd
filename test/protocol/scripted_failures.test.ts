import { expect } from "vitest";
import { encodeFrame } from "../../src/wire/frame.ts";
import { StartSchema } from "../../src/wire/gen/service_pb.ts";
import { controlType } from "../../src/wire/message_type.ts";
import type { Play, Script, ScriptOptions } from "./_script.ts";
import { until } from "../support/child.ts";
import { frame, say } from "./_script_say.ts";
import { attempt, gaps, line, recorded, stage, stays } from "./_script_stage.ts";

// Attempts that fail without a message that says so
// (docs/spec/service-protocol.md#failures-of-attempts).

const { play, target } = stage();

const again = say.error({ code: 500, message: "again" });
const kill = { retryPolicyMaxAttempts: 3, retryPolicyOnMaxAttempts: "KILL" };

const HOUR_MS = 3_600_000;
const patient = { retryPolicyInitialInterval: HOUR_MS, retryPolicyMaxInterval: HOUR_MS };

interface Failing extends ScriptOptions {
  /** What is recorded of it, where the server tells. */
  readonly code: string;
  /** Entries that must survive it. */
  readonly kept?: readonly string[];
}

/** A first attempt goes wrong, a second one finds what it should, and succeeds. */
async function failsOnce({ code, kept = [], ...options }: Failing, bad: Play): Promise<Script> {
  const script: Script = await play(options, async (one) => {
    const { said } = await one.replay();
    if (one.number === 1) return await bad(one);
    await recorded(script, one.id, code);
    expect(said).toEqual(["Input", ...kept]);
    await one.succeed("better");
  });
  expect((await script.call()).text).toBe("better");
  expect(script.attempts).toHaveLength(2);
  return script;
}

line("60 given three attempts at most and KILL, then the third failure is the result", async () => {
  const script = await play({ options: kill }, async (one) => {
    await one.replay();
    await one.leave(say.error({ code: 503, message: `failure ${one.number}` }));
  });
  const { status, text } = await script.call();
  expect([status, JSON.parse(text)]).toMatchObject([503, { code: 503, message: "failure 3" }]);
  expect(script.attempts).toHaveLength(3);
});

line("60 given three attempts at most and PAUSE, then it waits, and starts over", async () => {
  const options = { ...kill, retryPolicyOnMaxAttempts: "PAUSE" };
  const script = await play({ options }, async (one) => {
    const { start } = await one.replay();
    if (one.number <= 3) return await one.leave(again);
    expect(start.retryCountSinceLastStoredEntry).toBe(0);
    await one.succeed("resumed");
  });
  const called = script.call();
  const { id } = await attempt(script, 3);
  // The longest delay of a retry is 200 ms, and a third more by chance.
  await stays("no fourth attempt", () => script.attempts.length === 3, 500);
  await script.operate(id, "resume");
  expect((await called).text).toBe("resumed");
  expect(script.attempts).toHaveLength(4);
});

line("60 given a resume while it backs off, then the retry comes early, and counts", async () => {
  const options = { ...kill, ...patient, retryPolicyOnMaxAttempts: "PAUSE" };
  const script = await play({ options }, async (one) => {
    const { start } = await one.replay();
    expect(start.retryCountSinceLastStoredEntry).toBe((one.number - 1) % 3);
    if (one.number <= 3) return await one.leave(again);
    await one.succeed("resumed");
  });
  const called = script.call();
  for (const number of [1, 2]) {
    const { id } = await attempt(script, number);
    await until("it to back off", async () => await script.status(id) === "backing-off");
    expect((await script.operate(id, "resume")).status).toBe(200);
  }
  const { id } = await attempt(script, 3);
  await until("it to be paused", async () => await script.status(id) === "paused");
  expect((await script.operate(id, "resume")).status).toBe(200);
  expect((await called).text).toBe("resumed");
  expect(script.attempts).toHaveLength(4);
});

const NAMED = [
  [400, "[400 Bad request] words"],
  [404, "[404 Not found] words"],
  [408, "[408] words"],
  [409, "[409 Aborted] words"],
  [410, "[410 Gone] words"],
  [470, "[470 Not ready] words"],
  [500, "[500 Internal] words"],
  [503, "[503] words"],
  [570, "[570 Journal mismatch] words"],
  [571, "[571 Protocol violation] words"],
  [572, "[572 Awaiting two async results] words"],
  [573, "[573 Unsupported feature] words"],
] as const;

line("60 given a failure, then it is shown with its code and the name that code has", async () => {
  const shown: unknown[] = [];
  const options = { retryPolicyInitialInterval: 1, retryPolicyMaxInterval: 1 };
  const script: Script = await play({ options }, async (one) => {
    await one.replay();
    if (one.number > 1) shown.push(await script.failureText(one.id));
    const [code] = NAMED[one.number - 1] ?? [];
    if (!code) return await one.succeed("shown");
    await one.leave(say.error({ code, message: "words" }));
  });
  expect((await script.call()).text).toBe("shown");
  // A server without SQL queries tells nothing.
  if (shown[0] !== undefined) expect(shown).toEqual(NAMED.map(([, text]) => text));
});

for (const cut of [0, 1, 9] as const) {
  line(`61 given a response that ends ${cut} bytes into a message, then a retry`, async () => {
    const kept = ["Run 1"];
    await failsOnce({ code: "RT0007", kept }, async (one) => {
      await one.send(say.run(1), say.run(2).subarray(0, cut));
      one.end();
    });
  });
}

for (const transport of ["h2", "h1"] as const) {
  line(`62 given a stream that is reset over ${transport}, then RT0010 and a retry`, async () => {
    await failsOnce({ code: "RT0010", transport }, (one) => one.reset());
  });
}

line("62 given an endpoint that refuses connections, then retries, until it is back", async () => {
  const script = await play({ options: kill }, async (one) => {
    await one.replay();
    await one.succeed("back");
  });
  await script.listener.leave();
  const { status, text } = await script.call();
  expect([status, JSON.parse(text)]).toMatchObject([500, { code: 500, source: "invocation" }]);
  const patient = await play({ options: { retryPolicyMaxAttempts: 70 } }, async (one) => {
    await one.replay();
    await one.succeed("back");
  });
  await patient.listener.leave();
  const called = patient.call();
  // The other one, called later, has tried in vain: so has this one.
  expect((await script.call()).status).toBe(500);
  await patient.listener.comeBack();
  expect((await called).text).toBe("back");
});

for (
  const [status, code] of [[404, "RT0012"], [415, "RT0015"], [500, "RT0012"], [
    301,
    "RT0012",
  ]] as const
) {
  line(`63 given the status ${status}, then ${code} and a retry`, async () => {
    const script = await failsOnce({ code }, (one) => {
      one.respond(status, { location: "/elsewhere" });
      one.end();
    });
    // Nobody was redirected.
    expect(script.strays).toEqual([]);
  });
}

for (const status of [429, 503]) {
  line(
    `64 given ${status} with Retry-After, then it counts, and no attempt is used up`,
    async () => {
      const options = { ...kill, retryPolicyMaxAttempts: 2 };
      const script: Script = await play({ options }, async (one) => {
        if (one.number > 1) {
          // It is an attempt all the same, and told as one.
          expect(await script.retryCount(one.id)).toBe(one.number);
          return await one.replay().then(() => one.leave(again));
        }
        one.respond(status, { "retry-after": "2" });
        one.end();
      });
      expect((await script.call()).status).toBe(500);
      expect(script.attempts).toHaveLength(3);
      const [first = 0, second = 0] = gaps(script);
      expect(first).toBeGreaterThanOrEqual(1_990);
      expect(second).toBeLessThan(1_990);
    },
  );
}

line(
  "31b given failures one after another, then each attempt is told the time of all",
  async () => {
    const spans: number[] = [];
    const script = await play({}, async (one) => {
      const { start } = await one.replay();
      spans.push(Number(start.durationSinceLastStoredEntry));
      if (one.number === 4) return await one.succeed("late");
      await one.leave(say.error({ code: 500, message: "again", nextRetryDelay: 200n }));
    });
    expect((await script.call()).text).toBe("late");
    const [, second = 0, , fourth = 0] = spans;
    // What an SDK measures a step's longest duration by: two delays lie between.
    expect(fourth - second).toBeGreaterThanOrEqual(390);
  },
);

line("63b given 415, then no handler was tried, and the next attempt is told so", async () => {
  const script = await play({}, async (one) => {
    if (one.number === 1) {
      one.respond(415);
      return one.end();
    }
    const { start } = await one.replay();
    expect(start.retryCountSinceLastStoredEntry).toBe(one.number - 2);
    await one.leave(...one.number === 2 ? [again] : [say.output("spoken"), say.end()]);
  });
  expect((await script.call()).text).toBe("spoken");
});

for (const type of ["application/json", "application/vnd.restate.invocation.v5", undefined]) {
  line(`65 given a response of the content type ${type}, then RT0012 and a retry`, async () => {
    await failsOnce({ code: "RT0012" }, async (one) => {
      one.respond(200, type === undefined ? {} : { "content-type": type });
      await one.leave(say.set("never", "kept"), say.output("never"), say.end());
    });
  });
}

line("66 given a length over the limit, then RT0003 without the body", async () => {
  await failsOnce({ code: "RT0003", kept: ["Run 1"] }, async (one) => {
    // A SetState of 2 GiB, of which nothing ever comes.
    const head = Uint8Array.of(4, 3, 0, 0, 0x7f, 0xff, 0xff, 0xff);
    await one.leave(say.run(1), head);
  });
});

/** What nobody but the server may say, and what says nothing. */
const REFUSED = {
  "a Start": frame(controlType.start, StartSchema, { knownEntries: 1 }),
  "a CommandAck": encodeFrame(controlType.commandAck, Uint8Array.of(8, 1)),
  "a run's ack": encodeFrame(controlType.proposeRunCompletionAck, Uint8Array.of(8, 1)),
  "a RunCompletion": encodeFrame(0x8011, Uint8Array.of(8, 1, 0x22, 0)),
  "a signal": encodeFrame(0xfbff, Uint8Array.of(0x10, 17, 0x22, 0)),
  "an unassigned control type": encodeFrame(0x0050, new Uint8Array()),
  "an undecodable Call": encodeFrame(0x040d, Uint8Array.of(0x0a, 0x7f, 1)),
  "a run proposal without a result": encodeFrame(0x0005, Uint8Array.of(8, 1)),
};

for (const [name, bad] of Object.entries(REFUSED)) {
  line(`68a given ${name} from the endpoint, then RT0012, others do not notice`, () => breaks(bad));
}

const UNKNOWN = {
  "an unassigned command": encodeFrame(0x040f, new Uint8Array()),
  "an unassigned notification": encodeFrame(0x8fff, new Uint8Array()),
  "a custom entry": encodeFrame(0xfc00, new Uint8Array()),
  "an Input": encodeFrame(0x0400, Uint8Array.of(0x72, 0)),
  "an undecodable SetState": encodeFrame(0x0403, Uint8Array.of(0xff, 0xff, 0xff)),
};

for (const [name, bad] of Object.entries(UNKNOWN)) {
  line(`68b given ${name} from the endpoint, then RT0012, others do not notice`, () => breaks(bad));
}

/** Nothing of `bad` and what follows is kept, what precedes it is; and another one goes on. */
async function breaks(bad: Uint8Array): Promise<void> {
  let isOver = false;
  const other = await play({}, async (one) => {
    await one.replay();
    await until("the other one", () => isOver);
    await one.succeed("unaffected");
  });
  const called = other.call();
  await failsOnce({ code: "RT0012", kept: ["Run 1"] }, async (one) => {
    await one.leave(say.run(1), bad, say.run(2), say.output("never"), say.end());
  });
  isOver = true;
  expect((await called).text).toBe("unaffected");
  expect((await fetch(`${target().admin}/health`)).status).toBe(200);
}

line("77 given a failed attempt, then what its endpoint still says is ignored", async () => {
  await failsOnce({ code: "RT0012", kept: ["Run 1"] }, async (one) => {
    await one.send(say.run(1), say.suspend({}));
    await one.dismissed();
    await one.send(say.run(2), say.output("late"), say.end());
    one.end();
  });
});
