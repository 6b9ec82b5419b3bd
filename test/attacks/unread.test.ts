import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseMetrics, valueOf } from "../observe/_parse.ts";
import { END_HEADERS, END_STREAM, frame, header, PREFACE, request, TYPE } from "./_frames.ts";
import { SCALE, tell, TEST_MS } from "./_scale.ts";
import { expectWell, portOf, startTarget, type Target } from "./_target.ts";

/** Less than the default, so that few connections reach it. */
const LIMIT_BYTES = 24 * 1024 * 1024;
/** What one connection asks for, and gets before that is counted. */
const FLIGHT_BYTES = 24 * 1024 * 1024;
const CONNECTIONS = 8 * SCALE;
const STREAMS = 190;
const PIPELINED = 2_600;

let target: Target;
beforeAll(async () => {
  target = await startTarget({ ADMIN__UNREAD_ANSWERS_SIZE_LIMIT: String(LIMIT_BYTES) });
}, 60_000);
afterAll(async () => await target?.close());

const NO_WINDOW = Buffer.from([0, 4, 0, 0, 0, 0]);
const whole = END_HEADERS | END_STREAM;

/** Requests over one connection of HTTP/2 whose streams take no body. */
function streams(...headers: Buffer[]): Buffer {
  const head = Buffer.concat([request("GET", "/openapi"), ...headers]);
  const all = Array.from(
    { length: STREAMS },
    (_, i) => frame(TYPE.headers, whole, 1 + 2 * i, head),
  );
  return Buffer.concat([PREFACE.subarray(0, 24), frame(TYPE.settings, 0, 0, NO_WINDOW), ...all]);
}

/** Some 95 KB each. Without limits 60 connections of each kind held 1.2, 2.6 and more than 3.8 GB. */
const KINDS: Readonly<Record<string, Buffer>> = {
  "answers of HTTP/2": streams(),
  "answers that are compressed": streams(header("accept-encoding", "br")),
  "answers of HTTP/1.1, in a row": Buffer.from("GET /openapi HTTP/1.1\r\n\r\n".repeat(PIPELINED)),
};

async function figure(name: string, labels?: Readonly<Record<string, string>>): Promise<number> {
  const page = await fetch(`${target.server.admin}/metrics`);
  return valueOf(parseMetrics(await page.text()), `perdure_${name}`, labels)!;
}

test.each(Object.entries(KINDS))(
  "%s that nobody reads take no more than a limit",
  async (name, bytes) => {
    const sockets: Socket[] = [];
    let most = 0;
    for (let i = 0; i < CONNECTIONS; i++) {
      const socket = connect(portOf(target.server.admin), "127.0.0.1").pause().on(
        "error",
        () => {},
      );
      sockets.push(socket);
      socket.write(bytes);
      if (i % 4 !== 3) continue;
      // Others are served meanwhile, and memory is below its bound.
      await expectWell(target);
      most = Math.max(most, await figure("queued_bytes", { interface: "admin" }));
    }
    tell({
      name,
      connections: CONNECTIONS,
      most,
      memory: await figure("process_resident_memory_bytes"),
    });
    for (const socket of sockets) socket.destroy();
    const left = () => figure("queued_bytes", { interface: "admin" });
    await expect.poll(left, { timeout: 20_000 }).toBe(0);
    expect(most).toBeLessThan(2 * LIMIT_BYTES + FLIGHT_BYTES);
    await expectWell(target);
  },
  TEST_MS,
);
