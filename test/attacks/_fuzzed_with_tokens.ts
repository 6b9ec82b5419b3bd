import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { Authority } from "../support/certificates.ts";
import { call, query, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, type Server, SIDECAR_TOKEN, startServer } from "../support/server.ts";
import { closeAll, COMMANDS, ready, startProcess } from "../tls/_process.ts";
import { Chance, damaged, type FuzzRequest, isCutShort } from "./_fuzz.ts";
import { adminRoutes, ingressRoutes, type Routes } from "./_routes.ts";
import { SCALE, tell } from "./_scale.ts";
import {
  bytesOf,
  type Heard,
  http1Sender,
  http2Sender,
  sendBytes,
  type Sender,
} from "./_senders.ts";
import { expectSame, memoryOf, type Watched } from "./_watched.ts";

/** Another one is tried with `ATTACK_SEED`. */
const SEED = Number(process.env["ATTACK_SEED"] ?? "1");
/** Sends one request only: that of this number. */
const ONLY = process.env["ATTACK_ONLY"];
/** Of each of the two tests. */
const REQUESTS = 4_000 * SCALE;
const AT_ONCE = 24;
/** After so long without a byte a request is abandoned. HTTP/2 over TLS on Deno takes some time. */
const ABANDON_MS = { node: 200, deno: 1_000 } as const;
/**
 * Of the requests that are sent in one way, so many may stay without an answer: they are abandoned, calls
 * that wait as well as any on a busy machine (a twentieth, where it was seen). A way that is
 * stuck answers none.
 */
const UNANSWERED_MAX = 1 / 4;
const FUZZ_MS = 60_000 + 60_000 * SCALE;

const ROLES = ["viewer", "operator", "invoke:Greeter/*", "admin"] as const;
type Identity = "nobody" | "wrong" | typeof ROLES[number];
const tokenOf = (role: string) => `token-of-${role}`;

/** Both ports of one server. */
type Ports = Pick<Server, "ingress" | "admin">;

let endpoint: Endpoint, server: Server, secure: Ports, authority: Authority;
/** The process without TLS, and the one with it. */
let processes: readonly Watched[];
let routes: Readonly<Record<keyof Ports, Routes>>;
let senders: readonly Sender[];
let abandonMs: number;

async function start(runtime: RuntimeName): Promise<void> {
  const lines = await Promise.all(
    ROLES.map(async (role) => `${role} ${await digestOf(tokenOf(role))} ${role}`),
  );
  const settings = {
    AUTH__TOKENS: lines.join("\n"),
    AUTH__WRONG_TOKENS_LIMIT: "1000000",
    AUTH__WRONG_TOKENS_LIMIT_PER_ADDRESS: "1000000",
    EXPERIMENTAL_ENABLE_VQUEUES: "true",
    LOG_LEVEL: "info",
    KAFKA__TOKEN: SIDECAR_TOKEN,
    KAFKA__SIDECAR: "off",
  };
  authority = new Authority("the authority of the server");
  const { certFile, keyFile } = authority.issue("server");
  endpoint = await startEndpoint("h2");
  server = await startServer({ runtime, settings });
  const withTls = { ...settings, TLS__CERT_FILE: certFile, TLS__KEY_FILE: keyFile };
  const child = startProcess(COMMANDS[runtime]!(), withTls);
  secure = await ready(child);
  const token = tokenOf("viewer");
  processes = [
    { ports: server, token, isAlive: () => server.isAlive(), output: () => server.said() },
    { ports: secure, token, isAlive: () => child.isAlive(), output: () => child.output() },
  ];
  routes = await routesOf(server, await fill(asAdmin(server)));
  abandonMs = ABANDON_MS[runtime];
  senders = [false, true].flatMap((isSecure) => [
    http1Sender(isSecure, abandonMs),
    http2Sender(isSecure, abandonMs),
  ]);
}

async function end(): Promise<void> {
  for (const sender of senders ?? []) sender.close();
  await Promise.all([closeAll(), server?.close(), endpoint?.close()]);
  authority?.close();
}

const asAdmin = (ports: Ports) => ({ ...ports, token: tokenOf("admin") });

/** Rows of every kind that requests can change. Answers their ids and names. */
async function fill(address: Ports & { readonly token: string }): Promise<string[]> {
  const { body } = await register(address, endpoint);
  const headers = { "idempotency-key": "once" };
  const called = await call(address, "Greeter/greet", "you", { headers });
  expect(called.status).toBe(200);
  await call(address, "Counter/c/add", 1);
  const ids = await query(address, "SELECT id FROM sys_invocation");
  return [
    ...[(body as { id: string }).id, "Greeter", "greet", "Counter", "c", "add", "nothing", "once"],
    ...ids.map(({ id }) => String(id)),
    ...["application/json", "rule/*", "vq_1", "kafka://a/b", "service://Greeter/greet"],
  ];
}

async function routesOf(ports: Ports, known: readonly string[]) {
  const read = async (url: string) => await (await fetch(`${url}/openapi`)).json();
  return {
    admin: adminRoutes(await read(ports.admin), known),
    ingress: ingressRoutes(await read(ports.ingress), known),
  };
}

/** One request of a seed: the same number, the same request. */
interface Shot {
  readonly number: number;
  readonly identity: Identity;
  readonly port: keyof Ports;
  readonly request: FuzzRequest;
  /** Undefined: its bytes, damaged. */
  readonly sender: Sender | undefined;
  readonly chance: Chance;
}

function shot(
  number: number,
  identities: readonly Identity[],
  ports: readonly (keyof Ports)[],
): Shot {
  const chance = new Chance(SEED * 1_000_003 + number);
  // The first numbers that follow a seed resemble those of its neighbors.
  for (let i = 0; i < 3; i++) chance.next();
  const [identity, port] = [chance.of(identities), chance.of(ports)];
  const fuzzed = routes[port].request(chance);
  const headers = { ...fuzzed.headers };
  // Answers are read here. `fuzz.test.ts` has compressed ones.
  delete headers["accept-encoding"];
  if (identity === "nobody") delete headers["authorization"];
  else headers["authorization"] = `Bearer ${tokenOf(identity)}`;
  const sender = chance.next() < 0.2 ? undefined : chance.of(senders);
  return { ...{ number, identity, port, sender, chance }, request: { ...fuzzed, headers } };
}

async function fire({ port, request, sender, chance }: Shot): Promise<Heard> {
  if (sender) {
    return await sender.send(sender.name.includes("TLS") ? secure[port] : server[port], request);
  }
  const { [port]: url } = chance.next() < 0.5 ? server : secure;
  return await sendBytes(url, damaged(chance, bytesOf(request)), abandonMs);
}

/** A serde that its endpoint refuses is 500 without a code, as on the reference (test/protocol/serdes). */
const OF_AN_ENDPOINT = /"Cannot (?:en|de)code with the serde /;

const DAMAGED = "damaged bytes";
const unanswered = (way: string) => `${way} without an answer`;

/** What a port may answer without a fault of ours: a 5xx has a code, or says that something is away. */
function isPlanned({ status, text }: Heard): boolean {
  return status < 500 || status === 501 || status === 503 || /\b(RT|META)\d{4}\b/.test(text) ||
    OF_AN_ENDPOINT.test(text) || isCutShort(text);
}

/** Sends all requests, some at once. Fails with each that was answered by a fault, and how to repeat it. */
async function fuzz(
  identities: readonly Identity[],
  check: (shot: Shot, heard: Heard) => boolean,
  ports: readonly (keyof Ports)[] = ["admin", "ingress"],
) {
  const counts: Record<string, number> = {}, faults: unknown[] = [];
  const count = (name: string) => counts[name] = (counts[name] ?? 0) + 1;
  let next = ONLY === undefined ? 0 : Number(ONLY);
  const end = ONLY === undefined ? REQUESTS : next + 1;
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < end && faults.length < 20) {
      const one = shot(next++, identities, ports);
      const heard = await fire(one);
      const way = one.sender?.name ?? DAMAGED;
      count(`status ${heard.status}`);
      count(way);
      if (heard.status === 0) count(unanswered(way));
      count(`as ${one.identity}`);
      if (isPlanned(heard) && check(one, heard)) continue;
      faults.push(`ATTACK_SEED=${SEED} ATTACK_ONLY=${one.number}: ${told(one, heard)}`);
    }
  }));
  tell({ seed: SEED, requests: end, ms: Math.round(performance.now() - began), counts });
  expect(faults, faults.join("\n")).toEqual([]);
  expectAnswers(counts);
}

function told({ identity, port, sender, request }: Shot, { status, text }: Heard): string {
  const body = request.body && new TextDecoder().decode(request.body.subarray(0, 2_000));
  const { name = DAMAGED } = sender ?? {};
  return JSON.stringify({ port, identity, sender: name, ...request, body, status, text });
}

/** Fails where a way of sending has got too few answers. */
function expectAnswers(counts: Readonly<Record<string, number>>): void {
  // A single request may be one that waits.
  if (ONLY !== undefined) return;
  for (const way of [...senders.map(({ name }) => name), DAMAGED]) {
    const [sent, without] = [counts[way] ?? 0, counts[unanswered(way)] ?? 0];
    expect(sent, way).toBeGreaterThan(0);
    expect(without, unanswered(way)).toBeLessThanOrEqual(sent * UNANSWERED_MAX);
  }
}

/** Sends what `attack` sends. Both processes must be the same afterwards. */
async function withstands(attack: () => Promise<void>): Promise<void> {
  const memoryBefore = await Promise.all(processes.map(memoryOf));
  await attack();
  for (const [at, one] of processes.entries()) await expectSame(one, memoryBefore[at]!);
  tell({ memoryBefore, memoryAfter: await Promise.all(processes.map(memoryOf)) });
}

const SESSION = "/internal/ui/session";
const TABLES = [
  ...["sys_deployment", "sys_service", "sys_invocation", "sys_journal", "state", "sys_promise"],
  ...["sys_inbox", "sys_keyed_service_status", "sys_subscription", "sys_kafka_cluster"],
  ...["sys_rules", "sys_journal_events", "sys_vqueue_meta"],
];

/** All rows of what an operator or a caller can change. */
async function rows(): Promise<unknown> {
  const all: Record<string, unknown> = {};
  for (const table of TABLES) {
    const found = await query(asAdmin(server), `SELECT * FROM ${table}`);
    all[table] = found.map((row) => JSON.stringify(row)).toSorted();
  }
  return all;
}

async function changesNothing(): Promise<void> {
  const before = await rows();
  expect(routes.admin.size).toBeGreaterThan(50);
  const isRefused = (status: number) => status === 0 || status >= 400;
  await withstands(async () => {
    await fuzz(["nobody", "wrong", "viewer"], ({ identity, port, request, sender }, { status }) => {
      const isReading = ["GET", "HEAD", "OPTIONS"].includes(request.method);
      // A sign-out only deletes the cookie of its sender, so it needs no role.
      const isSigningOut = request.method === "DELETE" && request.path.startsWith(SESSION);
      if (isSigningOut) return true;
      // Damaged bytes may say another method or path. The rows tell whether they changed anything.
      if (!sender || isReading || identity === "viewer" && port === "admin") return true;
      return isRefused(status);
    });
    expect(await rows()).toEqual(before);
    const changes =
      "SELECT count(1) AS n FROM sys_audit WHERE status < 400 AND identity <> 'admin'";
    expect(await query(asAdmin(server), changes)).toEqual([{ n: 0 }]);
  });
}

/** Has a server on a runtime, and one with TLS, fuzzed as every identity. */
export function fuzzesWithTokens(runtime: RuntimeName): void {
  beforeAll(() => start(runtime), 90_000);
  afterAll(end);

  test("without the right role nothing changes, whatever is sent", changesNothing, FUZZ_MS);

  test("with every token requests are answered, and none by a fault of ours", async () => {
    await withstands(() => fuzz(["nobody", "wrong", ...ROLES, "admin", "admin"], () => true));
  }, FUZZ_MS);
}
