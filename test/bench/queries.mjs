// How quick is POST /query over a million invocations, and do calls mind one each second?
//
//   npm run build && node test/bench/queries.mjs [--rows 1000000] [--files 1]
//
// With more than one file, partitions have a database file each, and rows are copied out of all of them.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fill } from "./_fill.mjs";
import { load } from "./_load.mjs";
import { startEndpoint, startServer } from "./_process.mjs";

function flag(name, otherwise) {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}

const files = flag("--files", 1);
const count = Math.floor(flag("--rows", 1_000_000) / files);
if (files > 1) {
  process.env.SVC_DEFAULT_NUM_PARTITIONS = String(files);
  process.env.SVC_STORAGE__DATABASES = "each";
}
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
  // As the command line asks: ids, how many there are, and the rows of some ids.
  "ids by service": `select inv.id from sys_invocation inv where inv.target_service_name in ('Null')
    order by inv.created_at desc, inv.id limit 100`,
  "count": `select count(1) from (select * from sys_invocation inv limit 50000)
    where inv.target_service_name in ('Null')`,
};

/** As the command line asks for the rows of a list. */
const rowsOf = (ids) =>
  `select inv.id, inv.target, inv.status, inv.retry_count, dp.id is not null as is_known
    from (select *, status = 'running' as is_running from sys_invocation) inv
    left join sys_deployment dp on dp.id = inv.pinned_deployment_id
    where inv.id in (${ids.map((id) => `'${id}'`).join(", ")})`;

async function ask(server, query) {
  const began = performance.now();
  const body = JSON.stringify({ query });
  const answer = await fetch(`${server.admin}/query`, { method: "POST", headers: JSON_TYPE, body });
  const { rows, message } = await answer.json();
  if (!rows) throw new Error(message);
  return { ms: performance.now() - began, rows };
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
  const databases = fs.readdirSync(folder).filter((name) => name.endsWith(".db"));
  for (const [i, name] of databases.entries()) {
    const filled = await fill(path.join(folder, name), { count, first: i * count });
    console.log(`${filled} invocations`);
  }
  server = await startServer(folder);
  const { rows: ids } = await ask(server, "select id from sys_invocation limit 100");
  const asked = { ...queries, "rows by id": rowsOf(ids.map(({ id }) => id)) };
  for (const [name, query] of Object.entries(asked)) {
    const times = [];
    let rows;
    for (let i = 0; i < 7; i++) {
      const answer = await ask(server, query);
      times.push(answer.ms);
      rows = answer.rows.length;
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
