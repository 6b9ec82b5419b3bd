import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { call, register, send, value } from "../support/client.ts";
import { until } from "../support/child.ts";
import { type Endpoint, startEndpoint, type Transport, TRANSPORTS } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";

/** `CRASH_RUNTIME=deno npx vitest run test/crash` tries the other one. */
const runtime: RuntimeName = process.env["CRASH_RUNTIME"] === "deno" ? "deno" : "node";

let server: Server, endpoint: Endpoint;

afterEach(async ({ task }) => {
  if (task.result?.state === "fail") console.error(`${task.name}\n${server?.logs().slice(-3000)}`);
  await Promise.all([server?.close(), endpoint?.close()]);
});

async function start(transport: Transport, settings = {}): Promise<void> {
  const starting = [startServer({ runtime, settings }), startEndpoint(transport)] as const;
  [server, endpoint] = await Promise.all(starting);
  expect((await register(server, endpoint)).status).toBe(201);
}

/** `CRASH_TIMES=5` kills it that much more often. */
const TIMES = Number(process.env["CRASH_TIMES"] ?? 1);

/** Kills the process that often, after times nobody chose. */
async function crashRepeatedly(times: number, aliveMsMax: number): Promise<void> {
  for (let i = 0; i < times * TIMES; i++) {
    await sleep(Math.random() * aliveMsMax);
    await server.crash();
  }
}

/** Comes after everything that was accepted before it, so it hears the final count. */
async function finalCount(key: string): Promise<unknown> {
  return await value(server, `Counter/${key}/add`, 0);
}

describe.each(TRANSPORTS)("kill -9, endpoint over %s", (transport) => {
  beforeEach(() => start(transport));

  test("in the middle of a step: the finished ones are not run again", async () => {
    const headers = { "idempotency-key": "a" };
    const input = { id: "a", count: 12, holdAt: 9 };
    await send(server, "Greeter/steps", input, { headers });
    for (let round = 1; round <= 3; round++) {
      await endpoint.happens("a step 9", round);
      await server.crash();
    }
    await endpoint.happens("a step 9", 4);
    endpoint.release("a");
    const { body } = await call(server, "Greeter/steps", input, { headers });
    expect(body).toHaveLength(12);
    const counts = Array.from({ length: 12 }, (_, i) => endpoint.count(`a step ${i}`));
    expect(counts).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 1, 1]);
  }, 30_000);

  test("in the middle of a sleep: it wakes when it is due, once", async () => {
    const begun = Date.now();
    const sleepers = Array.from({ length: 20 }, (_, i) => `s${i}`);
    for (const id of sleepers) await send(server, "Greeter/nap", { id, ms: 2000 });
    for (const id of sleepers) await endpoint.happens(`${id} asleep`);
    await crashRepeatedly(2, 100);
    // On a slow machine the last crash may hit those that woke already: then a step may repeat.
    const isEarly = Date.now() - begun < 2000;
    for (const id of sleepers) await endpoint.happens(`${id} after`);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(2000);
    for (const id of sleepers) {
      expect(endpoint.count(`${id} before`), id).toBe(1);
      if (isEarly) expect(endpoint.count(`${id} after`), id).toBe(1);
    }
  }, 30_000);

  test("with delayed sends pending: each still counts, once, and not early", async () => {
    const keys = Array.from({ length: 50 }, (_, i) => `d${i}`);
    const due = Date.now() + 1500;
    for (const key of keys) {
      const { status } = await send(server, `Counter/${key}/add`, 1, { query: "delay=1500ms" });
      expect(status).toBe(202);
    }
    await crashRepeatedly(2, 100);
    if (Date.now() < due - 100) {
      expect(await value(server, "Counter/d0/get")).toBe(0);
    }
    for (const key of keys) {
      await until(key, async () => await value(server, `Counter/${key}/get`) !== 0);
    }
    await crashRepeatedly(1, 10);
    for (const key of keys) expect(await finalCount(key), key).toBe(1);
  }, 30_000);

  test("with 400 invocations in flight on 40 keys: every one counts exactly once", async () => {
    const keys = Array.from({ length: 40 }, (_, i) => `k${i}`);
    const answers = await Promise.all(
      keys.flatMap((key) =>
        Array.from(
          { length: 10 },
          (_, i) => send(server, `Counter/${key}/slowAdd`, { delta: 1, ms: i % 3 * 10 }),
        )
      ),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(400);
    await crashRepeatedly(3, 250);
    for (const key of keys) expect(await finalCount(key), key).toBe(10);
  }, 60_000);

  test(
    "while callers go on sending: what was accepted counts once, what was not at most once",
    async () => {
      const sure = new Map<string, number>(), unsure = new Map<string, number>();
      const add = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
      let isOver = false;
      const caller = async (number: number) => {
        for (let i = 0; !isOver; i++) {
          const key = `u${(number * 7 + i) % 30}`;
          const status = await send(server, `Counter/${key}/add`, 1)
            .then((answer) => answer.status, () => 0);
          if (status === 202) add(sure, key);
          else add(unsure, key);
          if (status !== 202) await sleep(20);
        }
      };
      const callers = Array.from({ length: 8 }, (_, number) => caller(number));
      const accepted = () => [...sure.values()].reduce((sum, one) => sum + one, 0);
      for (let round = 1; round <= 3; round++) {
        await until("some to be accepted", () => accepted() > 17 * round);
        await crashRepeatedly(1, 300);
      }
      await until("some to be accepted", () => accepted() > 68);
      isOver = true;
      await Promise.all(callers);
      let total = 0;
      for (const key of new Set([...sure.keys(), ...unsure.keys()])) {
        const count = Number(await finalCount(key));
        const least = sure.get(key) ?? 0;
        expect(count, key).toBeGreaterThanOrEqual(least);
        expect(count, key).toBeLessThanOrEqual(least + (unsure.get(key) ?? 0));
        total += least;
      }
      expect(total).toBeGreaterThan(50);
    },
    60_000,
  );

  test("while callers repeat themselves with a key: each counts exactly once", async () => {
    const asked = Array.from({ length: 150 }, (_, i) => i);
    const untilAnswered = async (i: number) => {
      const headers = { "idempotency-key": `i${i}` };
      for (;;) {
        const status = await call(server, `Counter/r${i % 10}/slowAdd`, { delta: 1, ms: 5 }, {
          headers,
        })
          .then((answer) => answer.status, () => 0);
        if (status === 200) return;
        expect([0, 503], String(status)).toContain(status);
        await sleep(30);
      }
    };
    const all = Promise.all(asked.map(untilAnswered));
    await crashRepeatedly(3, 300);
    await all;
    for (let i = 0; i < 10; i++) expect(await finalCount(`r${i}`)).toBe(15);
  }, 60_000);

  test("while handlers send to one another: each message arrives exactly once", async () => {
    const relays = Array.from({ length: 30 }, (_, i) => i);
    for (const i of relays) {
      const deltas = [1, 1, 1, 1, 1];
      await send(server, "Greeter/relay", { key: `x${i % 6}`, deltas, delayMs: i % 2 * 300 });
    }
    await crashRepeatedly(3, 150);
    for (let i = 0; i < 6; i++) {
      await until(
        `x${i}`,
        async () => Number(await value(server, `Counter/x${i}/get`)) >= 25,
        20_000,
      );
      expect(await finalCount(`x${i}`)).toBe(25);
    }
  }, 60_000);
});

describe("endpoints that misbehave", () => {
  test("an endpoint that is gone for a while: everything is done when it is back", async () => {
    await start("h2");
    await endpoint.stop();
    for (let i = 0; i < 30; i++) await send(server, `Counter/g${i}/add`, 1);
    await sleep(300);
    await server.crash();
    await endpoint.start();
    for (let i = 0; i < 30; i++) expect(await finalCount(`g${i}`)).toBe(1);
  }, 30_000);

  test(
    "an endpoint that stands still: the attempt is given up, and a later one ends it",
    async () => {
      await start("h2", { WORKER__INVOKER__ABORT_TIMEOUT: "300ms" });
      const answer = value(server, "Greeter/steps", { id: "s", count: 3, holdAt: 1 });
      await endpoint.happens("s step 1");
      endpoint.signal("SIGSTOP");
      await sleep(1500);
      endpoint.signal("SIGCONT");
      endpoint.release("s");
      expect(await answer).toHaveLength(3);
      expect(endpoint.count("s step 0")).toBe(1);
    },
    30_000,
  );

  test("a handler that waits for something outside: aborted and tried again", async () => {
    await start("h2", { WORKER__INVOKER__ABORT_TIMEOUT: "200ms" });
    const answer = value(server, "Greeter/hang", "h");
    await endpoint.happens("h hang", 3);
    endpoint.release("h");
    expect(await answer).toBe("let go");
  }, 30_000);

  test("an endpoint that dies with many attempts in flight: every one counts once", async () => {
    await start("h2");
    for (let i = 0; i < 100; i++) {
      await send(server, `Counter/e${i % 20}/slowAdd`, { delta: 1, ms: 20 });
    }
    for (let i = 0; i < 3; i++) {
      await sleep(50);
      await endpoint.stop();
      await endpoint.start();
    }
    for (let i = 0; i < 20; i++) expect(await finalCount(`e${i}`)).toBe(5);
  }, 30_000);
});

describe("servers that meet", () => {
  test("a second one on the same folder is refused, and the first does not notice", async () => {
    await start("h2");
    const [{ end, output }, answer] = await Promise.all([
      server.rival({ INGRESS__BIND_PORT: "0", ADMIN__BIND_PORT: "0" }),
      value(server, "Greeter/nap", { id: "n", ms: 400 }),
    ]);
    expect([end, output]).toEqual([1, expect.stringMatching(/^\[RT0005\] /m)]);
    expect(answer).toBeGreaterThan(0);
    await server.crash();
    expect(await value(server, "Greeter/greet", "x")).toBe("Hello x");
  }, 30_000);

  test("one that stood still goes on where it was", async () => {
    await start("h2");
    for (let i = 0; i < 40; i++) {
      await send(server, `Counter/p${i % 8}/slowAdd`, { delta: 1, ms: 30 });
    }
    for (let i = 0; i < 3; i++) {
      server.signal("SIGSTOP");
      await sleep(400);
      server.signal("SIGCONT");
      await sleep(50);
    }
    for (let i = 0; i < 8; i++) expect(await finalCount(`p${i}`)).toBe(5);
  }, 30_000);
});
