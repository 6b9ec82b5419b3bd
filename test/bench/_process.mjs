// A server and an endpoint as processes on free ports, over a folder that outlives them.
import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, "../..");

/** What a measurement that fails leaves behind ends with it. */
const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

function started(child) {
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

export async function freePort() {
  return await new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Polls until `check` holds; throws after `ms`. Answers how long it took, in milliseconds. */
export async function until(what, check, ms = 120_000) {
  const began = performance.now();
  for (;;) {
    if (await check().catch(() => false)) return performance.now() - began;
    if (performance.now() - began > ms) throw new Error(`Timed out waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Starts an endpoint: that of `null_endpoint.mjs`, or another script with what follows its port. */
export async function startEndpoint(script = path.join(here, "null_endpoint.mjs"), ...more) {
  const port = await freePort();
  const child = started(spawn(process.execPath, [script, String(port), ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  }));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill("SIGKILL") };
}

const { scripts } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
/** The flags of Node that `npm start` has. */
export const FLAGS = scripts.start.split(" ").filter((word) => word.startsWith("--"));

/** POST of JSON. Answers the text; throws for a refusal. */
export async function post(url, body, accept = "*/*") {
  const headers = { "content-type": "application/json", accept };
  const answer = await fetch(url, { method: "POST", headers, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return text;
}

/** Waits until a server says that it is ready. Polling would take CPU from its start. */
async function readiness(child, ended) {
  await Promise.race([new Promise((resolve) => child.stdout.once("data", resolve)), ended]);
  if (child.exitCode !== null) throw new Error("The server ended at its start");
}

/**
 * Starts the built Node server as `npm start` does, with further settings in `env`. `program`: another Node,
 * and more flags.
 */
export async function startServer(folder, env = {}, [node, ...flags] = [process.execPath]) {
  const [ingress, admin] = [await freePort(), await freePort()];
  const began = performance.now();
  const child = started(spawn(node, [...FLAGS, ...flags, path.join(root, "dist/node.mjs")], {
    env: {
      ...process.env,
      SVC_BASE_DIR: folder,
      SVC_INGRESS__BIND_PORT: String(ingress),
      SVC_ADMIN__BIND_PORT: String(admin),
      SVC_LOG_LEVEL: "warn",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  }));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const base = `http://127.0.0.1:${admin}`;
  await readiness(child, ended);
  const bootMs = performance.now() - began;
  return {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: base,
    bootMs,
    pid: child.pid,
    rssMiB: () => {
      const status = fs.readFileSync(`/proc/${child.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    },
    /** CPU that it has used in its life, in milliseconds. */
    cpuMs: () => {
      const stat = fs.readFileSync(`/proc/${child.pid}/stat`, "utf8");
      const [user, system] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13);
      return 10 * (Number(user) + Number(system));
    },
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
