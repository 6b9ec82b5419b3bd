import { expect, test } from "vitest";
import type { OwedLetter } from "../../src/model/kafka.ts";
import { served } from "./_sidecar.ts";

const ID = "inv_1dceKvwtEc2n5U1Qe8xhRaFwuQF5On9QaJ";
const OTHER = "inv_1dceKvwtEc2n5U1Qe8xhRaFwuQF5On9QaK";
const OPTIONS = { "max.attempts": "2", "on.poison": "dead-letter:dead" };

const owed = (subscription: string, more: Partial<OwedLetter> = {}): OwedLetter => ({
  ...{ id: ID, attempt: 2, subscription, at: 1_700_000_000_000, reason: "no" },
  headers: [
    ["kafka.offset", "7"],
    ["kafka.topic", "t"],
    ["kafka.partition", "1"],
    ["kafka.timestamp", "1600000000000"],
    ["kafka.key", "AP8="],
  ],
  value: new Uint8Array([1, 255]),
  ...more,
});

test("a sidecar says which letters are written, and gets those that are owed", async () => {
  const { letters, patch, path, id, world } = await served();
  await patch(path, { options: OPTIONS });
  world.owed = [owed(id)];
  const { status, json } = await letters({
    written: [{ id: OTHER, attempt: 3 }],
    returned: [{ id: ID, attempt: 1 }],
  });
  expect([status, json]).toEqual([200, {
    letters: [{
      ...{ id: ID, attempt: 2, subscription: id, at: 1_700_000_000_000, reason: "no" },
      ...{ topic: "t", partition: 1, offset: 7, timestamp: 1_600_000_000_000 },
      ...{ key: "AP8", value: "Af8", headers: [] },
    }],
  }]);
  expect(world.letterRequests).toEqual([
    {
      written: [{ id: OTHER, attempt: 3 }],
      returned: [{ id: ID, attempt: 1 }],
      bytesMax: 4 * 1024 * 1024,
    },
  ]);
});

test("letters of a subscription that wants none any more are over without being written", async () => {
  const { letters, patch, path, id, world } = await served();
  await patch(path, { options: { ...OPTIONS, "on.poison": "block" } });
  world.owed = [owed(id), owed("sub_gone", { id: OTHER })];
  expect((await letters({ written: [], returned: [] })).json).toEqual({ letters: [] });
  expect(world.letterRequests[1]).toEqual({
    written: [{ id: ID, attempt: 2 }, { id: OTHER, attempt: 2 }],
    returned: [],
    bytesMax: 0,
  });
});

test("what is no id is refused", async () => {
  const { letters, world } = await served();
  const { status, json } = await letters({ written: [{ id: "inv_1", attempt: 1 }], returned: [] });
  expect([status, json.message]).toEqual([422, expect.stringContaining("written.0.id")]);
  expect(world.letterRequests).toEqual([]);
});
