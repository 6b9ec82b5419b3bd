// Faults in fleets and in Durable Objects.
const ALARM = ["test/workerd/alarm.test.ts"];

export const adaptersPlaces = [
  {
    file: "src/placement/settings.ts",
    what: "a lease shorter than its heartbeats",
    find: 'if (config["fleet.lease-duration"] >= HEARTBEATS_MIN * heartbeatMs) return true;',
    replace: "return true;",
    tests: ["test/fleet/settings.test.ts"],
  },
  {
    file: "src/placement/settings.ts",
    what: "a fleet over files",
    find: 'if (config["storage.database-url"] === "") {',
    replace: 'if (config["storage.database-url"] === "x") {',
    tests: ["test/fleet/settings.test.ts"],
  },
  {
    file: "adapters/server/fleet_post.ts",
    what: "a request that was never sent counts as unknown",
    find: "(cause) => reject(isConnected() ? cause : notSent(cause, new URL(url))),",
    replace: "(cause) => reject(cause),",
    tests: ["test/fleet/post.test.ts"],
  },
  {
    file: "adapters/server/fleet_post.ts",
    what: "a request that may have arrived counts as not sent",
    find: "!socket.connecting) return void (isConnected = true);",
    replace: "!socket.connecting) return;",
    tests: ["test/fleet/post.test.ts"],
  },
  {
    file: "adapters/workerd/alarm.ts",
    what: "no alarm for a message under way",
    find: 'if (table === "outbox") due = Math.min(due, now + HEARTBEAT_MS);',
    replace: "",
    tests: ALARM,
  },
  {
    file: "adapters/workerd/alarm.ts",
    what: "a later timer puts off the alarm",
    find: "if (due >= this.#due) return;",
    replace: "if (due === this.#due) return;",
    tests: ALARM,
  },
  {
    file: "adapters/workerd/alarm.ts",
    what: "no alarm for what expires",
    find:
      'typeof expires === "number" ? Math.max(expires, now) + this.#cleanupIntervalMs : Infinity,',
    replace: "Infinity,",
    tests: ALARM,
  },
  {
    file: "adapters/workerd/alarm.ts",
    what: "no heartbeat for an attempt under way",
    find: 'row.status.kind === "invoked") {\n      due = Math.min(due, now + HEARTBEAT_MS);',
    replace: 'row.status.kind === "invoked") {',
    tests: ALARM,
  },
  {
    file: "adapters/workerd/durable_sqlite.ts",
    what: "a fence is taken for a fault",
    find: 'cause.message.includes("CHECK constraint failed")',
    replace: 'cause.message.includes("SQLITE_CONSTRAINT_CHECK failed")',
    tests: ["test/workerd/durable_sqlite.test.ts"],
  },
  {
    file: "src/placement/announced.ts",
    what: "other objects hear of a registration too late",
    find: "    await announce();",
    replace: "    setTimeout(announce, 1000);",
    tests: ["test/workerd/peers.test.ts"],
  },
  {
    file: "adapters/workerd/peers.ts",
    what: "an object that does not answer is told once",
    find: "if (attempt < ATTEMPTS_MAX) continue;",
    replace: "attempt = ATTEMPTS_MAX;",
    tests: ["test/workerd/peers.test.ts"],
  },
];
