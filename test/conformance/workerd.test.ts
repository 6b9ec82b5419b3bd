import { afterAll, afterEach, beforeAll, describe, test } from "vitest";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { asServer, startWorkerd, type WorkerdServer } from "../workerd/_server.ts";
import { callPromises } from "./_promises_call.ts";
import { httpPromises } from "./_promises_http.ts";
import { journalPromises } from "./_promises_journal.ts";
import { objectPromises } from "./_promises_object.ts";
import { processPromises } from "./_promises_process.ts";
import { registerPromises } from "./_promises_register.ts";
import { restartPromises } from "./_promises_restart.ts";
import type { Promises } from "./_suite.ts";

const NOT_OURS = "the process is workerd's: it has no folder, flags or signals of ours";

/** Promises that workerd does not keep, and why. `test/workerd` says what it does instead. */
const GAPS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(processPromises).map((name) => [name, NOT_OURS])),
  "says that the endpoint speaks the other version of HTTP":
    "it speaks HTTP/1.1 only, and says so with META0003 before it has asked the endpoint",
  "takes calls over HTTP/2 with prior knowledge on the same port":
    "workerd listens for HTTP/1.1; in production others listen for it",
  "takes the largest body it allows and refuses a larger one":
    "it allows 1 MiB: a Durable Object stores rows of 2 MB at most",
};
/** A process of any kind can be stopped for a while. */
const KEPT = "does not mind standing still";

const PROMISES: readonly Promises[] = [
  registerPromises,
  callPromises,
  objectPromises,
  journalPromises,
  restartPromises,
  httpPromises,
  processPromises,
];

describe("workerd, endpoint over h1", () => {
  let server: WorkerdServer, endpoint: Endpoint;
  let tests = 0;
  beforeAll(async () => {
    [server, endpoint] = await Promise.all([startWorkerd(), startEndpoint("h1")]);
    const { status, body } = await register(asServer(server), endpoint);
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
  for (const [name, check] of PROMISES.flatMap((group) => Object.entries(group))) {
    test.skipIf(name in GAPS && name !== KEPT)(
      name,
      () => check({ server: asServer(server), endpoint, id: `workerd-${++tests}` }),
      30_000,
    );
  }
});
