import { build } from "esbuild";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http2 from "node:http2";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Endpoint, h1Endpoint, listen } from "./_endpoint.ts";

const CLIENT = new URL("./_client.ts", import.meta.url).pathname;
const DENO = new URL("../../node_modules/.bin/deno", import.meta.url).pathname;
const run = promisify(execFile);

let folder: string;
let h1: Endpoint;
let h2: Endpoint;
let nowhere: Endpoint;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "client-"));
  await build({
    entryPoints: [CLIENT],
    outfile: join(folder, "client.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  h1 = await h1Endpoint((request, response) => {
    response.writeHead(200);
    if (request.url === "/echo") return void request.pipe(response);
    response.write("part");
    setTimeout(() => request.socket.destroy(), 20);
  });
  const server = http2.createServer({ settings: { maxConcurrentStreams: 3 } });
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => sockets.push(socket));
  server.on("sessionError", () => {});
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    if (headers[":path"] === "/echo") return stream.pipe(stream);
    stream.write("part");
    return setTimeout(() => {
      if (headers[":path"] === "/reset") stream.destroy(new Error("x"));
      else for (const socket of sockets) socket.destroy();
    }, 20);
  });
  h2 = await listen(server);
  nowhere = await h1Endpoint(() => {});
  await nowhere.close();
});

afterAll(async () => {
  await h1.close();
  await h2.close();
  rmSync(folder, { recursive: true });
});

const promises = {
  "h1 echo": "200:onetwo end",
  "h2 echo": "200:onetwo end",
  "h2 echo at once": Array(7).fill("200:onetwo end"),
  "h2 reset": "200:part reset",
  "h1 lost": "200:part reset",
  "h2 lost": "200:part reset",
  "h2 on h1": " http1",
  "h1 nowhere": " unreachable",
  "h2 nowhere": " unreachable",
  "signature": "publickeyv1_3WTypo2uYrwMHJ5yFFwUPX6T25n39PwNwke7pz22P4Ut " +
    "ZpnRyJWAiKx3e3Wi/a1u3eFi7YWp0HVC9Ny11zQwgq7G08Qpsu/k3IqO7iNtKwHy68YfJklYMvgoWxO4MH6kDw==",
};

test.each([
  ["Node", process.execPath, () => [join(folder, "client.mjs")]],
  ["Deno", DENO, () => ["run", "--allow-net", CLIENT]],
])("%s keeps the promises of Dial, and signs", async (_, command, args) => {
  const ports = [h1.port, h2.port, nowhere.port].map(String);
  const { stdout } = await run(command, [...args(), ...ports], { timeout: 20_000 });
  expect(JSON.parse(stdout)).toEqual(promises);
}, 20_000);
