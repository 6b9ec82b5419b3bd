import { expect } from "vitest";
import { until } from "../support/child.ts";
import { Behavior, Combinator } from "../../src/wire/gen/service_pb.ts";
import type { Play, Script } from "./_script.ts";
import { type Frame, say } from "./_script_say.ts";
import { attempt, line, recorded, stage, stays } from "./_script_stage.ts";

// What version 7 adds (docs/spec/service-protocol.md#versions,
// docs/spec/service-protocol.md#suspension).

const DEPTH_MAX = 20;
const { play } = stage({
  "experimental-enable-protocol-v7": "true",
  "worker.invoker.max-awaited-future-depth": String(DEPTH_MAX),
});

type Tree = Parameters<typeof say.suspendOn>[0];

line("17 given an endpoint of versions 5 to 7, then it is spoken to in 7", async () => {
  const script = await play({ max: 7 }, async (one) => {
    await one.replay();
    await one.succeed(one.contentType);
  });
  expect((await script.call()).text).toBe("application/vnd.restate.invocation.v7");
});

line(
  "29 given a run proposal that wants an ack, then an ack, and all of it in replays",
  async () => {
    const script = await play({}, async (one) => {
      const { said } = await one.replay();
      const ran = ['RunCompletion 1 "one"', 'RunCompletion 2 "two"'];
      if (one.number === 2) {
        expect(said).toEqual(["Input", "Run 1", ran[0], "Run 2", ran[1]]);
        return await one.succeed();
      }
      await one.send(say.run(1), say.ranTo(1, "one", 0x8000), say.run(2));
      expect(await one.hear()).toBe("ProposeRunCompletionAck 1");
      // Without the flag it is told in full.
      await one.send(say.ranTo(2, "two"));
      expect(await one.hear()).toBe(ran[1]);
      await one.leave(say.error({ code: 500, message: "again" }));
    });
    expect((await script.call()).status).toBe(200);
    expect(script.attempts).toHaveLength(2);
  },
);

/** A callee that succeeds or fails when it is told to, by the input it was called with. */
class Callees {
  readonly #ends = new Map<string, boolean>();

  readonly play: Play = async (one) => {
    const { entries: [input] } = await one.replay();
    const name = nameIn(input);
    await until(`the end of ${name}`, () => this.#ends.has(name));
    const good = this.#ends.get(name);
    await one.leave(good ? say.output(name) : say.fail(500, name), say.end());
  };

  end(name: string, good: boolean): void {
    this.#ends.set(name, good);
  }
}

/** Inputs are `in:one`, so that they can be found without a decoder. */
function nameIn(input: Frame | undefined): string {
  const [, name = ""] = /in:(\w+)/.exec(new TextDecoder().decode(input?.body)) ?? [];
  return name;
}

interface Awaiting {
  readonly script: Script;
  readonly callees: Callees;
  readonly called: Promise<unknown>;
  /** What the attempt after the suspension found, but for commands and ids. */
  readonly found: () => readonly string[];
}

/** An invocation that made calls `one` (completion 2) and `two` (4), and awaits `tree`. */
async function awaiting(tree: Tree): Promise<Awaiting> {
  const callees = new Callees();
  const callee = await play({}, callees.play);
  let found: string[] = [];
  const script = await play({}, async (one) => {
    const { said } = await one.replay();
    if (one.number > 1) {
      found = said.filter((entry) => entry.startsWith("CallCompletion"));
      return await one.succeed();
    }
    const target = { service: callee.name, handler: "run" };
    await one.send(
      say.call(1, { ...target, input: "in:one" }),
      say.call(3, { ...target, input: "in:two" }),
    );
    for (const id of [1, 3]) expect(await one.hear()).toBe(`CallInvocationIdCompletion ${id} inv`);
    await one.leave(say.suspendOn(tree));
  });
  const called = script.call();
  const first = await attempt(script, 1);
  await first.until("the suspension", () => first.isLeft);
  return { script, callees, called, found: () => found };
}

const { ALL_SUCCEEDED_OR_FIRST_FAILED, ALL_COMPLETED, FIRST_SUCCEEDED_OR_ALL_FAILED } = Combinator;
const both = (combinatorType: Combinator): Tree => ({
  waitingCompletions: [2, 4],
  combinatorType,
});

const [good, bad] = ['CallCompletion 2 "one"', 'CallCompletion 2 500 "one"'];

for (
  const { name, type, isGood, first } of [
    {
      name: "all succeeded or first failed",
      type: ALL_SUCCEEDED_OR_FIRST_FAILED,
      isGood: true,
      first: good,
    },
    { name: "all completed", type: ALL_COMPLETED, isGood: false, first: bad },
    {
      name: "first succeeded or all failed",
      type: FIRST_SUCCEEDED_OR_ALL_FAILED,
      isGood: false,
      first: bad,
    },
  ]
) {
  const does = isGood ? "success" : "failure";
  line(`53 given a suspension "${name}", then one ${does} does not wake it, both do`, async () => {
    const { script, callees, called, found } = await awaiting({
      nestedFutures: [both(type)],
      waitingSignals: [1],
      combinatorType: Combinator.FIRST_COMPLETED,
    });
    callees.end("one", isGood);
    await stays("no second attempt", () => script.attempts.length === 1, 250);
    callees.end("two", true);
    await called;
    expect(found()).toEqual([first, 'CallCompletion 4 "two"']);
    expect(script.attempts).toHaveLength(2);
  });
}

line('53 given a suspension "all succeeded or first failed", then a failure wakes it', async () => {
  const { callees, called, found } = await awaiting(both(ALL_SUCCEEDED_OR_FIRST_FAILED));
  callees.end("one", false);
  await called;
  expect(found()).toEqual([bad]);
  callees.end("two", true);
});

line('53 given a suspension "first succeeded or all failed", then a success wakes it', async () => {
  const { callees, called, found } = await awaiting(both(FIRST_SUCCEEDED_OR_ALL_FAILED));
  callees.end("one", true);
  await called;
  expect(found()).toEqual([good]);
  callees.end("two", true);
});

line(
  '54 given a suspension "race(signal 1, unknown(1, signal 17))", then a sleep wakes it',
  async () => {
    const script = await play({ mode: "REQUEST_RESPONSE" }, async (one) => {
      const { said } = await one.replay();
      if (one.number === 1) {
        const unknown = { waitingCompletions: [1], waitingSignals: [17] };
        return await one.leave(
          say.sleep(1, Date.now() + 200),
          say.suspendOn({
            waitingSignals: [1],
            nestedFutures: [unknown],
            combinatorType: Combinator.FIRST_COMPLETED,
          }),
        );
      }
      expect(said).toEqual(["Input", "Sleep 1", "SleepCompletion 1"]);
      await one.succeed();
    });
    expect((await script.call()).status).toBe(200);
    expect(script.attempts).toHaveLength(2);
  },
);

line("55 given a suspension without a tree, then RT0012 and a retry", async () => {
  const script = await play({}, async (one) => {
    await one.replay();
    if (one.number === 1) return await one.leave(say.suspend({ waitingCompletions: [1] }));
    await recorded(script, one.id, "RT0012");
    await one.succeed();
  });
  expect((await script.call()).status).toBe(200);
});

line("58 given an Error that says pause, then paused, and resumed it starts over", async () => {
  const script = await play({}, async (one) => {
    const { start, said } = await one.replay();
    if (one.number < 3) {
      const behavior = one.number === 1 ? Behavior.RETRY : Behavior.PAUSE;
      return await one.leave(say.error({ code: 500, message: "wait", behavior }));
    }
    expect(start.retryCountSinceLastStoredEntry).toBe(0);
    expect(said).toEqual(["Input"]);
    await one.succeed("resumed");
  });
  const called = script.call();
  const { id } = await attempt(script, 2);
  await stays("no third attempt", () => script.attempts.length === 2, 500);
  expect((await script.operate(id, "resume")).status).toBe(200);
  expect((await called).text).toBe("resumed");
});

line("59 given an Error that says fail, then this is the result", async () => {
  const script = await play({}, async (one) => {
    await one.replay();
    await one.leave(say.error({ code: 418, message: "no coffee", behavior: Behavior.FAIL }));
  });
  const { status, text } = await script.call();
  expect([status, JSON.parse(text)]).toMatchObject([418, { code: 418, message: "no coffee" }]);
  expect(script.attempts).toHaveLength(1);
});

/** A chain of nodes, each in the one before. The innermost waits for completion 1. */
function chain(nodes: number): Tree {
  const node = { combinatorType: Combinator.FIRST_COMPLETED };
  let tree: Tree = { ...node, waitingCompletions: [1] };
  for (let i = 1; i < nodes; i++) tree = { ...node, nestedFutures: [tree] };
  return tree;
}

line("RT0025 given a tree that is too deep, then paused until it is resumed", async () => {
  const script = await play({ mode: "REQUEST_RESPONSE" }, async (one) => {
    await one.replay();
    if (one.number > 1) return await one.succeed("resumed");
    await one.leave(say.sleep(1, Date.now() + 50), say.suspendOn(chain(DEPTH_MAX + 2)));
  });
  const called = script.call();
  const { id } = await attempt(script, 1);
  await stays("no second attempt", () => script.attempts.length === 1, 500);
  expect((await script.operate(id, "resume")).status).toBe(200);
  expect((await called).text).toBe("resumed");
});

line("RT0025 given a tree that is just not too deep, then it is awaited", async () => {
  const script = await play({ mode: "REQUEST_RESPONSE" }, async (one) => {
    await one.replay();
    if (one.number > 1) return await one.succeed("woken");
    await one.leave(say.sleep(1, Date.now() + 50), say.suspendOn(chain(DEPTH_MAX)));
  });
  expect((await script.call()).text).toBe("woken");
  expect(script.attempts).toHaveLength(2);
});
