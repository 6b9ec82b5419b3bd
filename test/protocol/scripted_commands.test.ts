import { fromBinary } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { entryType } from "../../src/model/journal.ts";
import {
  AttachInvocationCommandSchema,
  AwaitingOnSchema,
  Behavior,
  CallCommandSchema,
  ClearStateCommandSchema,
  CommandAckSchema,
  GetInvocationOutputCommandSchema,
  RunCommandSchema,
} from "../../src/wire/gen/service_pb.ts";
import { controlType } from "../../src/wire/message_type.ts";
import type { Play, Script } from "./_script.ts";
import type { Replay } from "./_script_attempt.ts";
import { type Frame, frame, join, print, say } from "./_script_say.ts";
import { line, recorded, stage } from "./_script_stage.ts";

// Commands and notifications (docs/spec/service-protocol.md#checklist), frame by frame.

const { prepare, play } = stage();

const text = new TextDecoder();

function stateOf({ start }: Replay): Record<string, string> {
  return Object.fromEntries(
    start.stateMap.map(({ key, value }) => [text.decode(key), text.decode(value)]),
  );
}

/** Answers with the state it was sent. */
const readState: Play = async (attempt) => {
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
    if (attempt.handler === "look") return await readState(attempt);
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

const asking = { flags: 0x8000 } as const;

line("3.1 given commands that ask to hear that they are stored, then each is told", async () => {
  const script = await play({}, async (one) => {
    const { said } = await one.replay();
    if (one.number === 1) {
      const first = frame(entryType.run, RunCommandSchema, { resultCompletionId: 1, ...asking });
      await one.send(first, say.ranTo(1, "ran"));
      const heard = [acknowledged(await one.next()), acknowledged(await one.next())];
      // Notifications have indexes in the journal, but none among commands.
      await one.send(
        say.set("k", "v"),
        frame(entryType.clearState, ClearStateCommandSchema, asking),
      );
      heard.push(acknowledged(await one.next()));
      expect(heard.sort()).toEqual(["ack 1", "ack 3", 'RunCompletion 1 "ran"'].sort());
      return await one.leave(say.error({ code: 500, message: "again" }));
    }
    expect(said).toEqual(["Input", "Run 1", 'RunCompletion 1 "ran"', "SetState", "ClearState"]);
    // Indexes go on where the journal ends.
    await one.send(frame(entryType.clearState, ClearStateCommandSchema, asking));
    expect(acknowledged(await one.next())).toBe("ack 4");
    await one.succeed("told");
  });
  expect((await script.call(`${script.object}/one/run`)).text).toBe("told");
});

/** An acknowledgement, and of what; or what else it is. */
function acknowledged(told: Frame): string {
  if (told.type !== controlType.commandAck) return print(told);
  return `ack ${fromBinary(CommandAckSchema, told.body).commandIndex}`;
}

line("4.21 given a call in a scope, then RT0024, whatever the version", async () => {
  const script: Script = await play({}, async (one) => {
    const { said } = await one.replay();
    expect(said).toEqual(["Input"]);
    if (one.number > 1) {
      await recorded(script, one.id, "RT0024");
      return await one.succeed("refused");
    }
    const contents = { serviceName: script.name, handlerName: "run", scope: "s" };
    await one.leave(frame(entryType.call, CallCommandSchema, contents));
  });
  expect((await script.call()).text).toBe("refused");
});

line("44b given what nobody can have been invoked with, then it is not found", async () => {
  const target = { serviceName: "S", handlerName: "run", idempotencyKey: "" };
  const script = await play({}, async (one) => {
    await one.replay();
    await one.send(
      frame(entryType.attach, AttachInvocationCommandSchema, {
        target: { case: "idempotentRequestTarget", value: target },
        resultCompletionId: 1,
      } as never),
      frame(entryType.getOutput, GetInvocationOutputCommandSchema, {
        target: {
          case: "workflowTarget",
          value: { workflowName: "W", workflowKey: "k", scope: "s" },
        },
        resultCompletionId: 2,
      } as never),
    );
    const failure = '404 "not found"';
    expect(await one.hear()).toBe(`AttachInvocationCompletion 1 ${failure}`);
    expect(await one.hear()).toBe(`GetInvocationOutputCompletion 2 ${failure}`);
    await one.succeed("nobody");
  });
  expect((await script.call()).text).toBe("nobody");
});

line("53b given what later versions say, then it counts before them as well", async () => {
  const script = await play({ max: 6 }, async (one) => {
    await one.replay();
    const awaiting = { awaitingOn: { waitingSignals: [1] } };
    await one.send(frame(controlType.awaitingOn, AwaitingOnSchema, awaiting));
    await one.leave(say.error({ code: 418, message: "no tea", behavior: Behavior.FAIL }));
  });
  expect((await script.call()).status).toBe(418);
  expect(script.attempts).toHaveLength(1);
});
