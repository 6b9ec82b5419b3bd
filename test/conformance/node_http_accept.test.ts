import { once } from "node:events";
import { setImmediate } from "node:timers";
import { expect, test } from "vitest";
import { accepted, afterAccepting } from "../../adapters/platform/accepting.ts";
import { NO_LIMITS } from "../../adapters/platform/listener.ts";
import { OpenConnections } from "../../adapters/platform/open_connections.ts";
import { dial, hello, log, startWith } from "./_node_http.ts";

const CLIENTS = 40;

/** Clients of the server, connected as far as the system goes: node has yet to accept them. */
async function connectAtOnce(url: string): Promise<void> {
  const sockets = Array.from({ length: CLIENTS }, () => dial(url));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
}

test("connections that wait are all accepted before work goes on", async () => {
  const open = new OpenConnections();
  const url = await startWith({ handler: hello, open });
  const seen: number[] = [];
  const watch = () => {
    const { fresh } = open.count().connections;
    seen.push(fresh);
    if (fresh < CLIENTS) afterAccepting(watch);
  };
  afterAccepting(watch);
  await connectAtOnce(url);
  await expect.poll(() => seen.at(-1)).toBe(CLIENTS);
  // The work that was due when the first was accepted saw all, not one more in each turn.
  expect(seen.filter((count) => count > 0 && count < CLIENTS / 2)).toEqual([]);
});

test("so are those that are closed because too many are open", async () => {
  const url = await startWith({ handler: hello, limits: { ...NO_LIMITS, connectionsMax: 1 } });
  const first = dial(url);
  first.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await expect.poll(() => first.text).toContain("hello");
  let closed = 0;
  const sockets = Array.from({ length: CLIENTS }, () => dial(url));
  for (const socket of sockets) socket.on("close", () => closed++);
  let turnsOfWork = 0;
  const work = () => {
    turnsOfWork++;
    if (closed < CLIENTS) afterAccepting(work);
  };
  afterAccepting(work);
  await expect.poll(() => closed).toBe(CLIENTS);
  expect(log[0]?.message).toContain("as many are open as may be");
  expect(turnsOfWork).toBeLessThan(CLIENTS / 2);
});

test("work goes on although connections come without end", async () => {
  let turns = 0, isDone = false;
  const come = () => {
    accepted();
    turns++;
    if (!isDone) setImmediate(come);
  };
  come();
  await new Promise<void>((resolve) => afterAccepting(resolve));
  isDone = true;
  expect(turns).toBeGreaterThan(10);
  expect(turns).toBeLessThan(100);
});

test("calls run in their order, the next turn, also behind one that throws", async () => {
  const ran: string[] = [];
  const thrown: unknown[] = [];
  const others = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.once("uncaughtException", (cause) => {
    thrown.push(cause);
    for (const other of others) process.on("uncaughtException", other);
  });
  afterAccepting(() => {
    ran.push("first");
    afterAccepting(() => ran.push("next"));
  });
  afterAccepting(() => {
    throw "a defect";
  });
  afterAccepting(() => ran.push("last"));
  expect(ran).toEqual([]);
  await expect.poll(() => ran).toEqual(["first", "last", "next"]);
  expect(thrown).toEqual(["a defect"]);
});
