import { beforeEach, expect, test } from "vitest";
import { Peers } from "../../src/placement/peers.ts";
import { Network } from "./_network.ts";
import { VirtualTime } from "./_time.ts";

const HEARTBEAT_MS = 1_000, LEASE_MS = 6_000;
const A = { id: "n-a", address: "http://a:1" }, B = { id: "n-b", address: "http://b:1" };

let time: VirtualTime, network: Network, peers: Peers, logs: string[];
beforeEach(() => {
  time = new VirtualTime();
  const stopwatch = time.stopwatch({ from: 0, pace: 1 });
  network = new Network(stopwatch);
  logs = [];
  peers = new Peers({
    ...network.line(),
    clock: { now: () => 1e12 + time.now },
    log: (level, message, fields) => logs.push(`${level} ${message} ${JSON.stringify(fields)}`),
    heartbeatMs: HEARTBEAT_MS,
    leaseMs: LEASE_MS,
  });
  network.at.set(A.address, { instance: "i-a", node: A.id });
  network.at.set(B.address, { instance: "i-b", node: B.id });
});

async function beats(count: number, others = [A, B]): Promise<void> {
  for (let n = 0; n < count; n++) {
    peers.seen(others);
    await time.pass(HEARTBEAT_MS);
  }
}

test("members that answer are not reported", async () => {
  await beats(20);
  expect([peers.unreachedPeers, peers.unreached, logs]).toEqual([[], [], []]);
});

test("a member that does not answer is reported at once, and counts as unreached after a lease", async () => {
  network.at.delete(B.address);
  await beats(2);
  expect(peers.unreachedPeers).toMatchObject([{
    ...B,
    cause: "connect ECONNREFUSED",
    since: 1e12,
  }]);
  expect(peers.unreached).toEqual([]);
  await beats(8);
  expect(peers.unreached).toEqual([B.id]);
  network.at.set(B.address, { instance: "i-b", node: B.id });
  await beats(2);
  expect([peers.unreachedPeers, peers.unreached]).toEqual([[], []]);
  expect(logs.map((line) => line.split(" ")[0])).toEqual(["warn", "info"]);
});

test("a member that stays unreachable is logged once a minute, with the number of probes", async () => {
  network.at.delete(B.address);
  await beats(125);
  expect(logs.map((line) => /"failures":(\d+)/.exec(line)?.[1])).toEqual(["1", "31", "61"]);
});

test("another secret, and another process at the address, are told apart", async () => {
  network.at.set(A.address, { instance: "i-a", node: A.id, secret: "another-secret-of-a-test" });
  network.at.set(B.address, { instance: "i-c", node: "n-c" });
  await beats(2);
  expect(peers.unreachedPeers.map(({ cause }) => cause)).toEqual([
    expect.stringContaining("fleet.secret"),
    expect.stringContaining("another process"),
  ]);
});

test("a member that has left is forgotten", async () => {
  network.at.delete(B.address);
  await beats(10);
  await beats(1, [A]);
  expect([peers.unreachedPeers, peers.unreached]).toEqual([[], []]);
});
