import { afterEach, describe, expect, test, vi } from "vitest";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { startWorkerd, type WorkerdServer } from "./_server.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let server: WorkerdServer | undefined, endpoint: Endpoint | undefined;
afterEach(async () => {
  await Promise.all([server?.close(), endpoint?.close()]);
  server = endpoint = undefined;
});

/** What a registration at a host is answered with. */
async function answerTo(host: string, transport: Endpoint["transport"] = "h2") {
  const { status, body } = await register(server!, { url: `http://${host}`, transport });
  return `${status} ${JSON.stringify(body)}`;
}

describe("where nothing tells what a name resolves to", () => {
  test("addresses are refused in every spelling, names of metadata, and names that spell addresses", async () => {
    server = await startWorkerd({ settings: { OUTBOUND__DENY: '["10.0.0.0/8"]' } });
    const hosts = [
      ...["169.254.169.254", "169.254.169.254.", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376"],
      ...["169.254.43518", "[::ffff:a9fe:a9fe]", "[64:ff9b::169.254.169.254]", "[fd00:ec2::254]"],
      ...["METADATA.google.internal.", "metadata.goog", "metadata.oraclecloud.com"],
      ...["169.254.169.254.nip.io", "www-169-254-169-254.sslip.io", "A9FEA9FE.nip.io"],
      ...["fd00-ec2--254.sslip.io", "10.1.2.3.nip.io", "100.100.100.200.example"],
    ];
    for (const host of hosts) {
      for (const transport of ["h1", "h2"] as const) {
        expect(await answerTo(host, transport), host).toMatch(/^400 .*META0018.*is refused: /);
      }
    }
  });

  test("a network that workerd itself denies is out of reach by name, too", async () => {
    const { port } = new URL((endpoint = await startEndpoint("h2")).url);
    server = await startWorkerd();
    expect(await answerTo(`localhost:${port}`)).toMatch(/^201 /);
    await server.close();
    server = await startWorkerd({ deny: ["127.0.0.0/8", "::1/128"] });
    expect(await answerTo(`localhost:${port}`)).toMatch(/META0003/);
    expect(await answerTo(`127.0.0.1:${port}`, "h1")).toMatch(/META0003/);
  });
});
