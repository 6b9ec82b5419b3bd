import { copyFileSync } from "node:fs";
import path from "node:path";
import tls from "node:tls";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Authority, type Issued } from "../support/certificates.ts";
import { until } from "../support/child.ts";
import { call, get, manage, query, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { PlayedSidecar } from "../support/played_sidecar.ts";
import { sqldProgram } from "../support/sqld.ts";
import { LEASE_MS, type Member, TestFleet } from "./_fleet.ts";

vi.setConfig({ testTimeout: 90_000 });

const KEYS = Array.from({ length: 24 }, (_, index) => `key-${index}`);
const program = await sqldProgram();

/** The settings of a process with this certificate. */
const shows = ({ certFile, keyFile }: Issued, { caFile }: Authority) => ({
  FLEET__TLS__CERT_FILE: certFile,
  FLEET__TLS__KEY_FILE: keyFile,
  FLEET__TLS__CA_FILE: caFile,
});

describe.skipIf(!program)("in a fleet with certificates, on Node and on Deno", () => {
  let fleet: TestFleet, endpoint: Endpoint;
  let authority: Authority, other: Authority, issued: readonly Issued[];
  beforeAll(async () => {
    [authority, other] = [new Authority("the fleet"), new Authority("another one")];
    issued = ["one", "two", "three"].map((name) => authority.issue(name));
    const options = {
      program: program ?? "",
      processes: 3,
      partitions: 6,
      runtimes: ["node", "deno", "node"],
      settingsOf: (n: number) => shows(issued[n]!, authority),
    } as const;
    [fleet, endpoint] = await Promise.all([TestFleet.start(options), startEndpoint("h2")]);
    await register(fleet, endpoint);
    await fleet.settled();
  }, 90_000);
  afterAll(async () => {
    await Promise.all([fleet?.close(), endpoint?.close()]);
    for (const one of [authority, other]) one.close();
  });

  test("each process takes calls for all partitions, and queries see what all have", async () => {
    for (const [n, { server }] of fleet.members.entries()) {
      for (const key of KEYS) {
        const { status, body } = await call(server, `Counter/${key}/add`, 1);
        expect([status, body], `${key} by ${n}`).toEqual([200, n + 1]);
      }
    }
    const count = "select count(distinct target_service_key) as n from sys_invocation";
    for (const { server } of fleet.members) expect(await query(server, count)).toEqual([{ n: 24 }]);
  });

  test("all reach each other at https, for longer than a lease", async () => {
    const since = Date.now();
    await until("a lease and more to pass", () => Date.now() - since > 2 * LEASE_MS);
    for (const { server } of fleet.members) {
      const { body } = await get(`${server.admin}/cluster-health`);
      const { members } = body as { members: { address: string; reached: boolean }[] };
      expect(members.map(({ address, reached }) => [address, reached]).toSorted())
        .toEqual(fleet.members.map(({ peers }) => [peers, true]).toSorted());
      expect((await get(`${server.admin}/ready`)).status).toBe(200);
    }
    expect(fleet.member(0).peers).toMatch(/^https:/);
    await fleet.settled();
  });

  test("what a sidecar reports to one process is shown by the others", async () => {
    const [one, two, three] = fleet.members.map(({ server }) => server);
    const properties = { "bootstrap.servers": "127.0.0.1:1" };
    await manage(one!, "POST /kafka-clusters", { name: "k", properties });
    const asked = { source: "kafka://k/t", sink: "service://Greeter/greet" };
    const { id } = (await manage(one!, "POST /subscriptions", asked)).body as { id: string };
    await new PlayedSidecar(one!, id).report("blocked", [
      { topic: "t", partition: 0, position: 3, end: 9 },
    ]);
    for (const server of [two!, three!]) {
      expect((await get(`${server.admin}/subscriptions/${id}`)).body)
        .toMatchObject({ state: "blocked", partitions: [{ position: 3, lag: 6 }] });
    }
  });

  const refused = async (n: number, settings: Readonly<Record<string, string>>) => {
    const { end, output } = await fleet.member(n).server.rival({
      FLEET__BIND_PORT: "0",
      FLEET__ADVERTISED_ADDRESS: "",
      FLEET__ADDRESS_CHECK_TIMEOUT: "500ms",
      ...settings,
    });
    expect(end, output).toBe(1);
    return output.split("\n").find((line) => line.startsWith("[")) ?? output;
  };

  describe.each([["Node", 0], ["Deno", 1]] as const)("does not start on %s", (_, n) => {
    test("a process with a certificate of another authority", async () => {
      expect(await refused(n, shows(other.issue("rival"), authority))).toMatch(
        /^\[RT0034\] .*by itself: the certificate of 127\.0\.0\.1:\d+ is signed by an unknown authority: add it to "fleet\.tls\.ca-file"/,
      );
    });

    test("a process with a certificate that has expired", async () => {
      const expired = authority.issue("rival", { days: -1 });
      expect(await refused(n, shows(expired, authority)))
        .toMatch(/^\[RT0034\] .*the certificate of 127\.0\.0\.1:\d+ has expired/);
    });

    test("a process with a certificate for another name", async () => {
      const named = authority.issue("rival", { names: "DNS:elsewhere.example" });
      expect(await refused(n, shows(named, authority)))
        .toMatch(/^\[RT0034\] .*is for other names \(.*elsewhere\.example\)/);
    });

    test("a process that trusts another authority", async () => {
      expect(await refused(n, shows(other.issue("rival"), other))).toMatch(
        /^\[RT0034\] Cannot call https:\S+, a process of this fleet: .*unknown authority/,
      );
    });

    test("a process without a certificate", async () => {
      const none = { FLEET__TLS__CERT_FILE: "", FLEET__TLS__KEY_FILE: "", FLEET__TLS__CA_FILE: "" };
      expect(await refused(n, none)).toMatch(/^\[RT0034\] Cannot call .*unknown authority/);
    });
  });

  test("settings that do not fit each other end the start", async () => {
    expect(await refused(0, { FLEET__TLS__CERT_FILE: "", FLEET__TLS__KEY_FILE: "" }))
      .toMatch(/^\[RT0002\] "fleet.tls.ca-file" and "fleet.tls.cert-file" are set together/);
    expect(await refused(0, { FLEET__ADVERTISED_ADDRESS: "http://127.0.0.1:1" }))
      .toMatch(/^\[RT0002\] .*"fleet.advertised-address" begins with https/);
  });

  /** Connects as a peer, and tells whether the connection outlives a request. */
  const connect = ({ peers }: Member, options: tls.ConnectionOptions) =>
    new Promise<{ readonly fingerprint: string; readonly answer: string }>((resolve) => {
      const { hostname: host, port } = new URL(peers);
      let answer = "";
      let fingerprint = "";
      const socket = tls.connect({ host, port: Number(port), ca: authority.ca, ...options });
      socket.on("secureConnect", () => {
        fingerprint = socket.getPeerCertificate().fingerprint256;
        socket.write("POST /fleet/who HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
      });
      socket.on("data", (bytes) => answer += bytes);
      socket.on("error", () => {});
      socket.on("close", () => resolve({ fingerprint, answer }));
    });

  test("a client without a certificate of the fleet gets no answer, and the log says why", async () => {
    for (const n of [0, 1]) {
      const member = fleet.member(n);
      expect(await connect(member, {})).toMatchObject({ answer: "" });
      const { cert, key } = other.issue("stranger");
      expect(await connect(member, { cert, key })).toMatchObject({ answer: "" });
      const { cert: known, key: its } = issued[2]!;
      expect((await connect(member, { cert: known, key: its })).answer).toMatch(
        /^HTTP\/1.1 40[13]/,
      );
      await until("the log to tell", () => member.server.logs().includes("none was shown"));
    }
  });

  test("a certificate that is renewed counts for new connections", async () => {
    for (const n of [0, 1]) {
      const { cert, key } = issued[2]!;
      const member = fleet.member(n);
      const before = await connect(member, { cert, key });
      const renewed = authority.issue("renewed");
      for (const file of ["certFile", "keyFile"] as const) {
        copyFileSync(renewed[file], path.resolve(issued[n]![file]));
      }
      await until("the new certificate", async () => (
        (await connect(member, { cert, key })).fingerprint !== before.fingerprint
      ), 15_000);
      member.way.reset();
      for (const key of KEYS) {
        // A request on a connection that was just broken may be ambiguous.
        await until(`a call of ${key}`, async () => (
          (await call(fleet.member(2).server, `Counter/${key}/add`, 1)).status === 200
        ));
      }
    }
  });
});
