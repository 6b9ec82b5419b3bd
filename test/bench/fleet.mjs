// One, two and three processes with a partition each, over one libSQL server: what more of them bring,
// and where the limit is. Runs on Deno, which takes TypeScript as it is.
//
//   npx deno run -A test/bench/fleet.mjs [--seconds 5] [--connections 240]
import { readFileSync } from "node:fs";
import process from "node:process";
import { freePorts, until } from "../support/child.ts";
import { startServer } from "../support/server.ts";
import { sqldProgram, startSqld } from "../support/sqld.ts";
import { load } from "./_load.mjs";
import { startEndpoint } from "./_process.mjs";

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return Number(at < 0 ? fallback : args[at + 1]);
};
const seconds = option("seconds", 5), connections = option("connections", 240);

/** Milliseconds of a processor that a process has used. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** How many processes own a partition, as the database has it. */
async function owners({ url }) {
  const statements = ["select count(distinct owner) from lease"];
  const answer = await fetch(url, { method: "POST", body: JSON.stringify({ statements }) });
  return (await answer.json())[0].results.rows[0][0];
}

async function startFleet(count, sqld) {
  const servers = [];
  for (const port of await freePorts(count)) {
    const settings = {
      LOG_LEVEL: "warn",
      STORAGE__DATABASE_URL: sqld.url,
      DEFAULT_NUM_PARTITIONS: String(count),
      FLEET__SECRET: "a-secret-for-a-benchmark",
      FLEET__BIND_PORT: String(port),
    };
    servers.push(await startServer({ runtime: "node", settings }));
  }
  await until("a partition for everybody", async () => await owners(sqld) === count, 30_000);
  return servers;
}

async function register({ admin }, { url }) {
  const answer = await fetch(`${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: url }),
  });
  if (answer.status !== 201) throw new Error(`Registration failed: ${await answer.text()}`);
}

async function measure(count, endpoint) {
  const sqld = await startSqld(await sqldProgram());
  const servers = await startFleet(count, sqld);
  await register(servers[0], endpoint);
  const ask = { path: () => "/svc/call/Null/echo", body: '"x"', connections: connections / count };
  const all = (seconds) =>
    Promise.all(servers.map(({ ingress }) => load(ingress, { ...ask, seconds })));
  await all(2);
  const pids = [...servers.map(({ pid }) => pid), sqld.pid];
  const before = pids.map(cpuMs);
  const seen = await all(seconds);
  const used = pids.map((pid, i) => (cpuMs(pid) - before[i]) / (seconds * 10));
  const sum = (name) => seen.reduce((total, one) => total + one[name], 0);
  const each = used.slice(0, -1).map((part) => `${part.toFixed(0)} %`).join(" + ");
  console.log(
    `${count} process${count > 1 ? "es" : ""}: ${sum("rps").toFixed(0)} calls/s, p50 ` +
      `${(sum("p50") / count).toFixed(1)} ms, ${
        sum("errors")
      } errors; of a core: servers ${each}, ` +
      `database ${used.at(-1).toFixed(0)} %`,
  );
  await Promise.all(servers.map((server) => server.close()));
  await sqld.close();
}

const endpoint = await startEndpoint();
try {
  for (const count of [1, 2, 3]) await measure(count, endpoint);
} finally {
  endpoint.stop();
}
process.exit(0);
