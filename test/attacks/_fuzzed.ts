import { connect } from "node:net";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RuntimeName } from "../support/server.ts";
import { Chance, damaged, fuzzRequest, isCutShort } from "./_fuzz.ts";
import { SCALE, tell, TEST_MS } from "./_scale.ts";
import { expectWell, portOf, startTarget, type Target } from "./_target.ts";

/** Another one is tried with `ATTACK_SEED`. */
const SEED = Number(process.env["ATTACK_SEED"] ?? "1");
const REQUESTS = 1_500 * SCALE;
const AT_ONCE = 16;
const ANSWER_MS = 20_000;

let target: Target;

/** Does `act` so often, some at once. */
async function often(times: number, act: () => Promise<void>): Promise<void> {
  let left = times;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (left-- > 0) await act();
  }));
}

const AT_ADMIN = [503, 501];

async function answersAll(): Promise<void> {
  const chance = new Chance(SEED);
  const statuses: Record<string, number> = {}, faults: unknown[] = [];
  await often(REQUESTS, async () => {
    const { method, path, headers, body } = fuzzRequest(chance);
    const isAdmin = chance.next() < 0.5;
    const url = isAdmin ? target.server.admin : target.server.ingress;
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(url + path, { method, headers, signal, body: body ?? null });
    const text = await answer.text();
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    // What a caller asks for can be wrong or missing, and endpoints can be away: all of it has a code.
    if (answer.status < 500 || AT_ADMIN.includes(answer.status) || isCoded(text)) return;
    faults.push({
      method,
      path: path.slice(0, 200),
      status: answer.status,
      text: text.slice(0, 200),
    });
  });
  tell({ seed: SEED, statuses });
  expect(faults).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  await expectWell(target);
}

/** Whether an answer names the code of an error that is known, as of an endpoint that is not there. */
function isCoded(text: string): boolean {
  return /\b(RT|META)\d{4}\b/.test(text);
}

const BASES = [
  `POST /svc/call/Greeter/greet HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n` +
  `content-length: 5\r\n\r\n"you"`,
  "GET /deployments HTTP/1.1\r\nhost: a\r\n\r\n",
  "POST /query HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n" +
  `transfer-encoding: chunked\r\n\r\n14\r\n{"query":"select 1"}\r\n0\r\n\r\n`,
];

async function answersDamaged(): Promise<void> {
  const chance = new Chance(SEED);
  const heard: Record<string, number> = {};
  await often(REQUESTS, async () => {
    const url = chance.next() < 0.5 ? target.server.admin : target.server.ingress;
    const bytes = damaged(chance, chance.of(BASES));
    const text = await say(portOf(url), bytes);
    const [status = "none"] = /HTTP\/1\.1 \d{3}/.exec(text) ?? [];
    heard[status] = (heard[status] ?? 0) + 1;
    const sent = JSON.stringify(Buffer.from(bytes).toString("latin1"));
    if (isCutShort(text)) return;
    expect(status, `${sent} was answered with ${text}`).not.toBe("HTTP/1.1 500");
  });
  tell({ seed: SEED, heard });
  await expectWell(target);
}

/** Sends bytes, ends its side, and hears what comes. */
function say(port: number, bytes: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.setTimeout(ANSWER_MS, () => {
      reject(new Error(`kept open after ${JSON.stringify(Buffer.from(bytes).toString("latin1"))}`));
      socket.destroy();
    });
    socket.on("data", (chunk) => text += chunk.toString("latin1").slice(0, 1_000));
    socket.on("error", () => {}).on("end", () => socket.destroy());
    socket.on("close", () => resolve(text));
    socket.end(bytes);
  });
}

/** Has a server on a runtime fuzzed, without tokens. */
export function fuzzes(runtime: RuntimeName): void {
  beforeAll(async () => void (target = await startTarget({}, runtime)), 60_000);
  afterAll(async () => await target?.close());

  test(
    `every request of seed ${SEED} is answered, and none by a fault of ours`,
    answersAll,
    TEST_MS,
  );
  test(`damaged bytes of seed ${SEED} are refused or answered`, answersDamaged, TEST_MS);
}
