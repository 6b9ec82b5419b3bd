import { createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { fleetPost } from "../../adapters/server/fleet_post.ts";
import { NotSent } from "../../src/placement/partition_client.ts";
import { freePorts } from "../support/child.ts";

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

/** A process that answers what it is sent on a connection so, one request after the other. */
async function peer(...answers: readonly (string | undefined)[]): Promise<string> {
  const server = createServer((socket) => {
    const left = [...answers];
    socket.on("error", () => {});
    socket.on("data", () => {
      const answer = left.shift();
      if (answer === undefined) socket.destroy();
      else socket.write(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

const send = fleetPost();
const post = (url: string) =>
  send(url, {
    method: "POST",
    headers: {},
    body: new Uint8Array([1]),
    signal: AbortSignal.timeout(20_000),
  });
const failureOf = (url: string) => post(url).then(() => undefined, (cause: unknown) => cause);
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";

test("an answer is given with its status and bytes", async () => {
  const { status, arrayBuffer } = await post(await peer(OK));
  expect([status, new TextDecoder().decode(await arrayBuffer())]).toEqual([200, "hi"]);
});

test("without a connection a request was certainly not sent", async () => {
  const [port] = await freePorts(1);
  expect(await failureOf(`http://127.0.0.1:${port}`)).toBeInstanceOf(NotSent);
});

test("a connection that breaks without an answer leaves it open whether it arrived", async () => {
  expect(await failureOf(await peer(undefined))).not.toBeInstanceOf(NotSent);
});

test("so does one that was used before", async () => {
  const url = await peer(OK, undefined);
  await (await post(url)).arrayBuffer();
  const failure = await failureOf(url);
  expect(failure).toBeInstanceOf(Error);
  expect(failure).not.toBeInstanceOf(NotSent);
});
