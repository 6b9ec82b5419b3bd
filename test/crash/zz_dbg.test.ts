import { test } from "vitest";
import { call, register, send, value } from "/work/main/test/support/client.ts";
import { startEndpoint } from "/work/main/test/support/endpoint.ts";
import { startServer } from "/work/main/test/support/server.ts";
test("x", async () => {
  const server = await startServer({ runtime: "node" }); const endpoint = await startEndpoint("h2");
  try {
  console.log((await register(server, endpoint)).status);
  for (let i = 0; i < 5; i++) console.log((await send(server, "Counter/a/slowAdd", { delta: 1, ms: 30 })).status);
  console.log("final", await value(server, "Counter/a/add", 0));
  await new Promise((r) => setTimeout(r, 1000));
  console.log("final", await value(server, "Counter/a/add", 0));
  console.log(endpoint.lines()); console.log(server.logs());
  } finally { await server.close(); await endpoint.close(); }
}, 20000);
