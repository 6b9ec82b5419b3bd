import { fromBinary } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { InputCommandSchema } from "../../src/wire/gen/service_pb.ts";
import { say } from "./_script_say.ts";
import { line, stage } from "./_script_stage.ts";

// How an attempt starts (docs/spec/service-protocol.md#checklist).

const { play } = stage();

for (const [max, version] of [[5, 5], [6, 6], [7, 6]] as const) {
  line(
    `17 given an endpoint of versions 5 to ${max}, then it is spoken to in ${version}`,
    async () => {
      const script = await play({ max }, async (attempt) => {
        await attempt.replay();
        await attempt.succeed();
      });
      expect((await script.call()).status).toBe(200);
      const { headers } = script.attempts[0]!.exchange;
      const type = `application/vnd.restate.invocation.v${version}`;
      expect([headers["content-type"], headers.accept]).toEqual([type, type]);
    },
  );
}

for (const transport of ["h2", "h1"] as const) {
  line(`18 given a new invocation over ${transport}, then Start and Input come first`, async () => {
    const script = await play({ transport }, async (attempt) => {
      // Nothing was said to the server yet, not even that it was heard.
      const { start, said } = await attempt.replay();
      expect(start.knownEntries).toBe(1);
      expect(start.debugId).toBe(attempt.id);
      expect(start.id).toHaveLength(24);
      expect(start.retryCountSinceLastStoredEntry).toBe(0);
      expect(said).toEqual(["Input"]);
      await attempt.succeed();
    });
    const answer = await script.call();
    expect([answer.status, answer.text]).toEqual([200, '"done"']);
    expect(script.attempts).toHaveLength(1);
  });
}

line("19 given an empty body, then Input has a value that is present and empty", async () => {
  const script = await play({}, async (attempt) => {
    const { entries: [input] } = await attempt.replay();
    const { value } = fromBinary(InputCommandSchema, input!.body);
    expect(value?.content).toEqual(new Uint8Array());
    // The last two bytes: field 14 of length 0.
    expect([...input!.body.slice(-2)]).toEqual([0x72, 0]);
    await attempt.succeed();
  });
  expect((await script.call(undefined, { body: "" })).status).toBe(200);
});

line("21 given the key k/1, then Start has it raw and the header percent-encoded", async () => {
  const script = await play({}, async (attempt) => {
    const { start } = await attempt.replay();
    expect(start.key).toBe("k/1");
    expect(start.partialState).toBe(false);
    await attempt.succeed();
  });
  expect((await script.call(`${script.object}/k%2F1/run`)).status).toBe(200);
  expect(script.attempts[0]!.exchange.headers["x-restate-service-key"]).toBe("k%2F1");
});

line("26 given an endpoint that reads slowly, then the server keeps to its window", async () => {
  const input = "x".repeat(300_000);
  // What exceeds the window breaks the connection, and with it the attempt.
  const script = await play({ slow: true, windowBytes: 4096 }, async (attempt) => {
    const { entries: [entry] } = await attempt.replay();
    const { value } = fromBinary(InputCommandSchema, entry!.body);
    await attempt.succeed(String(value?.content.length));
  });
  expect((await script.call(undefined, { body: input })).text).toBe(String(input.length));
  expect(script.attempts).toHaveLength(1);
});

for (const transport of ["h2", "h1"] as const) {
  line(
    `27 given frames that come byte by byte over ${transport}, then all is the same`,
    async () => {
      const script = await play({ transport }, async (attempt) => {
        const { start, said } = await attempt.replay();
        if (attempt.number === 1) {
          const words = [say.set("k", "v"), say.run(1), say.ranTo(1, "ran")];
          for (const word of words) {
            for (const byte of word) await attempt.send(Uint8Array.of(byte));
          }
          expect(await attempt.hear()).toBe('RunCompletion 1 "ran"');
          await attempt.leave(say.error({ code: 500, message: "again" }));
          return;
        }
        expect(said).toEqual(["Input", "SetState", "Run 1", 'RunCompletion 1 "ran"']);
        expect(start.stateMap.map(({ key, value }) => `${key}=${value}`)).toEqual(["107=118"]);
        const last = Buffer.concat([say.output("whole"), say.end()]);
        for (const byte of last) await attempt.send(Uint8Array.of(byte));
        await attempt.dismissed();
        attempt.end();
      });
      expect((await script.call(`${script.object}/one/run`)).text).toBe("whole");
      expect(script.attempts).toHaveLength(2);
    },
  );
}
