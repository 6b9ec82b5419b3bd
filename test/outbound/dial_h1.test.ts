import net from "node:net";
import { expect, test } from "vitest";
import { h1Endpoint, until } from "./_endpoint.ts";
import { bytes, cleanups, dialer, open, over, started } from "./_talk.ts";

/** A server that handles the requests of a connection one after the other. */
async function server(...turns: readonly ((socket: net.Socket) => void)[]): Promise<string> {
  const listening = net.createServer((socket) => {
    const left = [...turns];
    socket.on("error", () => {});
    socket.on("data", () => left.shift()?.(socket));
    cleanups.push(() => socket.destroy());
  });
  cleanups.push(() => void listening.close());
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(listening.address() as net.AddressInfo).port}`;
}

const answer = (socket: net.Socket) => {
  socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
};

test("a kept connection that breaks is a reset: the request may have arrived", async () => {
  const address = await server(answer, (socket) => socket.destroy());
  const dial = dialer(), url = `http://${address}/`;
  const first = open(dial, url, { version: "h1", method: "GET" });
  await until(() => over(first));
  expect(first.received).toEqual(["200 HTTP/1.1", "hi", "end"]);
  // The connection returns to the pool once its response is over.
  await new Promise((resolve) => setImmediate(resolve));
  const second = open(dial, url, { version: "h1", method: "GET" });
  await until(() => over(second));
  expect(second.received).toEqual(["failed reset"]);
});

test("a server that does not answer the TLS handshake fails with the connect timeout", async () => {
  const address = await server();
  const talk = open(dialer(), `https://${address}/`, { version: "h1", connectTimeoutMs: 200 });
  await until(() => over(talk));
  expect(talk.received).toEqual(["failed unreachable"]);
});

test("an exchange paused before the response stays paused until it is resumed", async () => {
  let isAnswered = false;
  const endpoint = await started(h1Endpoint((request, response) => {
    request.resume();
    response.writeHead(200);
    response.write("one", () => isAnswered = true);
  }));
  const talk = open(dialer(), endpoint.uri, { version: "h1" });
  talk.exchange.pause();
  talk.exchange.write(bytes("x"));
  await until(() => isAnswered && talk.received.length > 0);
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(talk.received).toEqual(["200 HTTP/1.1"]);
  talk.exchange.resume();
  await until(() => talk.received.length > 1);
  expect(talk.received).toEqual(["200 HTTP/1.1", "one"]);
  talk.exchange.abort();
});
