import { Buffer } from "node:buffer";
import { connect } from "node:net";
import { expect } from "vitest";
import { call, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { parseMetrics, valueOf } from "../observe/_parse.ts";

/** A built server with an SDK endpoint: what is attacked, and what must go on working meanwhile. */
export interface Target {
  readonly server: Server;
  readonly endpoint: Endpoint;
  close(): Promise<void>;
}

/** `settings`: as in `ServerOptions`. */
export async function startTarget(
  settings: Readonly<Record<string, string>> = {},
  runtime: RuntimeName = "node",
): Promise<Target> {
  const endpoint = await startEndpoint("h2");
  const server = await startServer({
    runtime,
    settings: { LOG_LEVEL: "info", ...settings },
  });
  expect((await register(server, endpoint)).status).toBe(201);
  return {
    server,
    endpoint,
    close: async () => void await Promise.all([server.close(), endpoint.close()]),
  };
}

export const portOf = (url: string) => Number(new URL(url).port);

/** How much memory an attack may leave behind. A server that is busy has some 150 MB. */
const BYTES_MAX = 600 * 1024 * 1024;

/** The server is the same process, answers on both ports, has not grown, and found no bug. */
export async function expectWell({ server }: Target): Promise<void> {
  expect(server.isAlive(), server.said()).toBe(true);
  expect(await call(server, "Greeter/greet", "you")).toMatchObject({ body: "Hello you" });
  const page = await fetch(`${server.admin}/metrics`);
  const bytes = valueOf(parseMetrics(await page.text()), "perdure_process_resident_memory_bytes");
  expect(bytes).toBeLessThan(BYTES_MAX);
  expect(server.said().split("\n").filter((line) => line.includes(`"level":"error"`))).toEqual([]);
}

/** What an answer is read to, and how long it may take. */
const READ_MAX = 64 * 1024;
const ANSWER_MS = 10_000;

/**
 * Sends bytes as they are and answers what comes until the server closes. Rejects when it keeps the
 * connection.
 */
export function talk(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = "";
    const socket = connect(port, "127.0.0.1");
    socket.setTimeout(ANSWER_MS, () => {
      reject(new Error(`No end in ${ANSWER_MS} ms after ${JSON.stringify(heard)}`));
      socket.destroy();
    });
    socket.on("data", (chunk) => {
      if (heard.length < READ_MAX) heard += chunk.toString("latin1");
    });
    // Broken connections are part of it: what was heard before counts.
    socket.on("error", () => {}).on("close", () => resolve(heard));
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  });
}

/** The statuses of HTTP/1.1 answers in a row. */
export function statusesOf(heard: string): number[] {
  return [...heard.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}
