// How quick is POST /query over a million invocations, and do calls mind one each second?
//
//   npm run build && node test/bench/queries.mjs [--rows 1000000]
import { createClient } from "@libsql/client/sqlite3";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { load } from "./_load.mjs";
import { startEndpoint, startServer } from "./_process.mjs";

const at = process.argv.indexOf("--rows");
const count = at < 0 ? 1_000_000 : Number(process.argv[at + 1]);
const STEP = 50_000;
const JSON_TYPE = { "content-type": "application/json", accept: "application/json" };
const shown = "select id, target, status, created_at, modified_at, retry_count, last_failure";
const since = new Date(Date.now() - 60_000).toISOString();
const queries = {
  "list page": `${shown} from sys_invocation order by created_at desc limit 100`,
  "by status": `${shown} from sys_invocation where status = 'running' limit 100`,
  "by service": `${shown} from sys_invocation where target_service_name = 'Null'
    order by created_at desc limit 100`,
  "by time": `${shown} from sys_invocation where created_at > '${since}'
    order by created_at desc limit 100`,
};

/** Copies the completed invocation, a millisecond older each. */
async function fill(folder) {
  const client = createClient({ url: `file:${path.join(folder, "perdure.db")}` });
  await client.execute("pragma synchronous = off");
  for (let from = 1; from <= count; from += STEP) {
    await client.execute({
      sql: `insert into invocation (id, partition, status, expires_at, created_at, body, output)
        select printf('inv_1000000000000%020d', n), partition, status, ?3, created_at - n - 100000,
          json_set(body, '$.id', printf('inv_1000000000000%020d', n)), output
        from (select * from invocation where status = 'completed' limit 1),
          (select value as n from generate_series(?1, ?2))`,
      args: [from, Math.min(count, from + STEP - 1), Date.now() + 86_400_000],
    });
  }
  const { rows: [{ n }] } = await client.execute("select count(*) as n from invocation");
  console.log(`${n} invocations`);
  client.close();
}

async function ask(server, query) {
  const began = performance.now();
  const body = JSON.stringify({ query });
  const answer = await fetch(`${server.admin}/query`, { method: "POST", headers: JSON_TYPE, body });
  const { rows, message } = await answer.json();
  return { ms: performance.now() - began, rows: rows?.length ?? message };
}

async function calls(server) {
  const path = () => "/svc/call/Null/echo";
  const { rps, p99 } = await load(server.ingress, {
    body: '"x"',
    connections: 16,
    seconds: 5,
    path,
  });
  return { rps, p99 };
}

const register = (server, { url }) =>
  fetch(`${server.admin}/deployments`, {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify({ uri: url }),
  });

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "queries-"));
const endpoint = await startEndpoint();
try {
  let server = await startServer(folder);
  await register(server, endpoint);
  await load(server.ingress, {
    body: '"x"',
    connections: 1,
    seconds: 1,
    path: () => "/svc/call/Null/echo",
  });
  await ask(server, "select count(*) from sys_invocation");
  await server.stop();
  await fill(folder);
  server = await startServer(folder);
  for (const [name, query] of Object.entries(queries)) {
    const times = [];
    let rows;
    for (let i = 0; i < 7; i++) {
      const answer = await ask(server, query);
      times.push(answer.ms);
      rows = answer.rows;
    }
    const [median] = times.sort((a, b) => a - b).slice(3);
    console.log(
      `${name}: ${rows} rows, median ${median.toFixed(0)} ms, most ${times.at(-1).toFixed(0)} ms`,
    );
  }
  await calls(server);
  const alone = await calls(server);
  const timer = setInterval(() => void ask(server, queries["list page"]), 1_000);
  const beside = await calls(server);
  clearInterval(timer);
  console.log(`calls alone ${alone.rps.toFixed(0)}/s, p99 ${alone.p99.toFixed(1)} ms`);
  console.log(
    `with a list page each second ${beside.rps.toFixed(0)}/s, p99 ${beside.p99.toFixed(1)} ms`,
  );
  await server.stop();
} finally {
  endpoint.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
