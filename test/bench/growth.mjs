// Does a server slow down as it grows older? The same load on an empty database, with a million
// completed invocations in it, and with a hundred thousand suspended ones that each have a timer.
//
//   npm run build && node test/bench/growth.mjs [--completed 1000000] [--suspended 100000] [--seconds 5]
//
// Prints a line each, with ratios to the empty one. Needs about 3 GB of disk.
import { createClient } from "@libsql/client/sqlite3";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { load } from "./_load.mjs";
import { startEndpoint, startServer } from "./_process.mjs";

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(args[at + 1]);
};
const completed = option("completed", 1_000_000);
const suspended = option("suspended", 100_000);
const seconds = option("seconds", 5);
const rounds = option("rounds", 3);
const HOUR_MS = 3_600_000;

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function measure(server) {
  const runs = { echo: [], object: [] };
  for (let round = 0; round <= rounds; round++) {
    const ask = { body: '"x"', connections: 64, seconds: round === 0 ? 2 : seconds };
    const echo = await load(server.ingress, { ...ask, path: () => "/svc/call/Null/echo" });
    const box = (i) => `/svc/call/Box/k${(i * 7919) % 10_000}/set`;
    const object = await load(server.ingress, { ...ask, path: box });
    if (round > 0) runs.echo.push(echo), runs.object.push(object);
  }
  const sum = (all) => ({
    rps: median(all.map(({ rps }) => rps)),
    p50: median(all.map(({ p50 }) => p50)),
    p99: median(all.map(({ p99 }) => p99)),
    errors: all.reduce((errors, one) => errors + one.errors, 0),
  });
  return { echo: sum(runs.echo), object: sum(runs.object), rss: server.rssMiB() };
}

/** Copies one completed invocation many times over, as the server would have written it. */
async function fillCompleted(folder, count) {
  await fill(folder, count, async (client, from, to) => {
    await client.batch([
      {
        sql: `insert into invocation (id, partition, status, expires_at, created_at, body, output)
          select printf('inv_1000000000000%020d', n), partition, status, ?3, created_at,
            json_set(body, '$.id', printf('inv_1000000000000%020d', n)), output
          from (select * from invocation where status = 'completed' limit 1),
            (select value as n from generate_series(?1, ?2))`,
        args: [from, to, Date.now() + 24 * HOUR_MS],
      },
      {
        sql: `insert into journal (id, first, entries, bytes)
          select printf('inv_1000000000000%020d', n), first, entries, bytes
          from (select * from journal limit 1), (select value as n from generate_series(?1, ?2))`,
        args: [from, to],
      },
    ], "write");
  });
}

async function fillSuspended(folder, count) {
  await fill(folder, count, async (client, from, to) => {
    const awaiting = { kind: "suspended", awaiting: { completions: [1], signals: [1], names: [] } };
    await client.batch([
      {
        sql: `insert into invocation (id, partition, status, expires_at, created_at, body)
          select printf('inv_1000000000001%020d', n), partition, 'suspended', null, created_at,
            json_remove(json_set(body, '$.id', printf('inv_1000000000001%020d', n),
              '$.status', json(?3)), '$.completedAt', '$.expiresAt')
          from (select * from invocation where status = 'completed' limit 1),
            (select value as n from generate_series(?1, ?2))`,
        args: [from, to, JSON.stringify(awaiting)],
      },
      {
        sql: `insert into journal (id, first, entries, bytes)
          select printf('inv_1000000000001%020d', n), first, entries, bytes
          from (select * from journal limit 1), (select value as n from generate_series(?1, ?2))`,
        args: [from, to],
      },
      {
        sql: `insert into timer (partition, due, id, kind, idx)
          select 0, ?3 + n, printf('inv_1000000000001%020d', n), 'sleep', 1
          from (select value as n from generate_series(?1, ?2))`,
        args: [from, to, Date.now() + HOUR_MS],
      },
    ], "write");
  });
}

async function fill(folder, count, insert) {
  const name = fs.readdirSync(folder).find((file) =>
    /\.(db|sqlite)$/.test(file) && !/lock/.test(file)
  );
  const client = createClient({ url: `file:${path.join(folder, name)}` });
  await client.execute("pragma synchronous = off");
  const STEP = 20_000;
  for (let from = 1; from <= count; from += STEP) {
    await insert(client, from, Math.min(count, from + STEP - 1));
  }
  const { rows } = await client.execute("select count(*) as n from invocation");
  console.log(`${rows[0].n} invocations in the database`);
  client.close();
}

function print(name, figures, base) {
  const part = (kind) => {
    const { rps, p50, p99, errors } = figures[kind];
    const ratio = base ? ` (${(rps / base[kind].rps).toFixed(2)}x)` : "";
    return `${kind} ${rps.toFixed(0)} rps${ratio} p50 ${p50.toFixed(1)} p99 ${
      p99.toFixed(1)
    } ms, ${errors} errors`;
  };
  console.log(
    `${name.padEnd(10)} boot ${figures.boot.toFixed(0)} ms | ${part("echo")} | ${
      part("object")
    } | ${figures.rss.toFixed(0)} MiB`,
  );
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "growth-"));
const endpoint = await startEndpoint();
let base;
try {
  for (
    const [name, prepare] of [
      ["empty", undefined],
      ["completed", () => fillCompleted(folder, completed)],
      ["suspended", () => fillSuspended(folder, suspended)],
    ]
  ) {
    await prepare?.();
    const server = await startServer(folder);
    await fetch(`${server.admin}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri: endpoint.url }),
    });
    const figures = { ...await measure(server), boot: server.bootMs };
    await server.stop();
    print(name, figures, base);
    base ??= figures;
  }
} finally {
  endpoint.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
