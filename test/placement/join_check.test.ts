import { beforeEach, expect, test } from "vitest";
import { checkJoin } from "../../src/placement/join_check.ts";
import { Network, SECRET } from "./_network.ts";
import { VirtualTime } from "./_time.ts";

const ME = { instance: "i-me", node: "" };
const HERE = "http://me:1", PEER = "http://peer:1", OTHER = "http://other:1";

let time: VirtualTime, network: Network, logs: string[];
beforeEach(() => {
  time = new VirtualTime();
  network = new Network(time.stopwatch({ from: 0, pace: 1 }));
  logs = [];
  network.at.set(HERE, ME);
});

/** What the check says within its time; undefined: nothing is wrong. */
async function checked(secret = SECRET): Promise<{ code: string; message: string } | undefined> {
  let failure: { code: string; message: string } | undefined, isDone = false;
  checkJoin({
    ...network.line(secret),
    address: HERE,
    instance: ME.instance,
    peers: () => Promise.resolve([{ id: "n-1", address: PEER }, { id: "n-2", address: OTHER }]),
    log: (level, message) => logs.push(`${level} ${message}`),
    timeoutMs: 10_000,
  }).catch((cause) => failure = cause).finally(() => isDone = true);
  await time.pass(30_000);
  expect(isDone).toBe(true);
  return failure;
}

test("a process that reaches itself, and is reached by the others, may join", async () => {
  network.at.set(PEER, { instance: "i-1", node: "n-1" });
  expect(await checked()).toBeUndefined();
  expect(logs).toEqual([]);
});

test("dead members, and other programs at their addresses, do not keep a process from joining", async () => {
  network.at.set(OTHER, { instance: "i-9", node: "n-9", secret: "another-fleet-of-this" });
  expect(await checked()).toBeUndefined();
});

test("an address where nothing listens, or another process, is refused", async () => {
  network.at.delete(HERE);
  expect(await checked()).toMatchObject({
    code: "RT0030",
    message: expect.stringMatching(/http:\/\/me:1 by itself: .*ECONNREFUSED.*advertised-address/),
  });
  expect(logs).toEqual(["warn Waiting to be reached by the fleet"]);
  network.at.set(HERE, { instance: "i-2", node: "n-2" });
  expect(await checked()).toMatchObject({
    code: "RT0030",
    message: expect.stringContaining("another process answers there"),
  });
});

test("an address that leads here after a while is waited for", async () => {
  network.at.delete(HERE);
  time.after(5_000, () => network.at.set(HERE, ME));
  expect(await checked()).toBeUndefined();
});

test("an address that leads here from here alone is refused", async () => {
  network.at.set(PEER, { instance: "i-1", node: "n-1", blindTo: [HERE] });
  expect(await checked()).toMatchObject({
    code: "RT0030",
    message: expect.stringContaining("by the process at http://peer:1: connect ECONNREFUSED"),
  });
  // One that reaches it will do: the fault may be that of the other.
  network.at.set(OTHER, { instance: "i-2", node: "n-2" });
  expect(await checked()).toBeUndefined();
});

test("a secret that is not that of a process which lives is refused", async () => {
  network.at.set(HERE, { ...ME, secret: "another-secret-of-a-test" });
  network.at.set(PEER, { instance: "i-1", node: "n-1" });
  expect(await checked("another-secret-of-a-test")).toMatchObject({
    code: "RT0031",
    message: expect.stringMatching(/http:\/\/peer:1 .*fleet\.secret/),
  });
});
