import { afterAll, afterEach, beforeAll, describe, test } from "vitest";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint, type Transport } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { callPromises } from "./_promises_call.ts";
import { httpPromises } from "./_promises_http.ts";
import { journalPromises } from "./_promises_journal.ts";
import { objectPromises } from "./_promises_object.ts";
import { processPromises } from "./_promises_process.ts";
import { registerPromises } from "./_promises_register.ts";
import { restartPromises } from "./_promises_restart.ts";

/** A server and an endpoint of its own, registered. */
export interface World {
  readonly server: Server;
  readonly endpoint: Endpoint;
  /** A name no other test has: of an object, a side effect, a person to greet. */
  readonly id: string;
}

/** What the server promises, by name. A check throws when the promise is broken. */
export type Promises = Readonly<Record<string, (world: World) => Promise<void>>>;

export interface Conformance {
  readonly runtime: RuntimeName;
  /** Promises this runtime does not keep, by name. They are shown as skipped, never left out. */
  readonly gaps?: readonly string[];
}

/** Kept over either transport. */
const EVERYWHERE: readonly Promises[] = [
  registerPromises,
  callPromises,
  objectPromises,
  journalPromises,
  restartPromises,
];
/** Those that have nothing to do with how endpoints are spoken to: tried with one of them. */
const ONCE: readonly Promises[] = [httpPromises, processPromises];

/** Everything the server promises on every runtime, checked against a real process of it. */
export function conformance({ runtime, gaps = [] }: Conformance): void {
  const transports = ["h2", "h1"] as const;
  for (const transport of transports) {
    const promises = transport === "h2" ? [...EVERYWHERE, ...ONCE] : EVERYWHERE;
    describe(`${runtime}, endpoint over ${transport}`, () =>
      keep(runtime, transport, { promises, gaps }));
  }
}

function keep(
  runtime: RuntimeName,
  transport: Transport,
  { promises, gaps }: { promises: readonly Promises[]; gaps: readonly string[] },
): void {
  let server: Server, endpoint: Endpoint;
  let tests = 0;
  beforeAll(async () => {
    [server, endpoint] = await Promise.all([startServer({ runtime }), startEndpoint(transport)]);
    const { status, body } = await register(server, endpoint);
    if (status !== 201) throw new Error(`Registration answered ${status}: ${JSON.stringify(body)}`);
  }, 30_000);
  afterAll(async () => {
    await Promise.all([server?.close(), endpoint?.close()]);
  });
  afterEach(({ task }) => {
    if (task.result?.state !== "fail") return;
    const log = server.logs().split("\n").slice(-30).join("\n");
    console.error(
      `${task.name}: the server said\n${log}\nthe endpoint said\n${endpoint.logs().slice(-2000)}`,
    );
  });
  for (const [name, check] of promises.flatMap((group) => Object.entries(group))) {
    test.skipIf(gaps.includes(name))(
      name,
      () => check({ server, endpoint, id: `${transport}-${++tests}` }),
      30_000,
    );
  }
}
