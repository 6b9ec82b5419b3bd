// What the test starts: a server with data of its own, and the handlers, registered with it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { startServer } from "perdure";

/** How the handlers are served. */
const endpointCommand = () => [process.execPath, "handlers.ts"];
/** Whether HTTP/1.1 is all that the handlers are served by. */
const IS_HTTP1 = false;
/** The first start may compile. */
const START_MS = 180_000;
const HAS_GROUPS = process.platform !== "win32";

/** Starts both. `call` calls a handler, `until` repeats that, and `stop` ends all of it. */
export async function start() {
  const data = await mkdtemp(join(tmpdir(), "perdure-"));
  const ports = ["--ingress.bind-port", "0", "--admin.bind-port", "0"];
  const args = ["--base-dir", data, "--log-level", "warn", "--threads", "1", ...ports];
  const server = await startServer({ args });
  const endpoint = await startEndpoint().catch(async (cause) => {
    await server.stop();
    throw cause;
  });
  const stop = async () => {
    await endpoint.stop();
    await server.stop();
    await rm(data, { recursive: true, force: true });
  };
  const call = async (target, input) => {
    const answer = await post(`${server.ingress}/svc/call/${target}`, input);
    if (!answer.ok) throw new Error(`${answer.status}: ${(await answer.json()).message}`);
    const text = await answer.text();
    return text === "" ? undefined : JSON.parse(text);
  };
  const deployment = { uri: `http://127.0.0.1:${endpoint.port}`, use_http_11: IS_HTTP1 };
  const registered = await post(`${server.admin}/deployments`, deployment);
  if (!registered.ok) {
    await stop();
    throw new Error(`Cannot register the handlers: ${await registered.text()}`);
  }
  return { ingress: server.ingress, call, stop };
}

/** Asks until the answer is as wanted. Rejects after 20 seconds. */
export async function until(ask, isWanted) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`Still ${JSON.stringify(answer)}`);
    await sleep(50);
  }
}

/** Sends `input` as JSON. `undefined`: the handler takes none. */
export function post(url, input) {
  if (input === undefined) return fetch(url, { method: "POST" });
  const headers = { "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(input) });
}

async function startEndpoint() {
  const port = await freePort();
  const [program, ...args] = endpointCommand(String(port));
  const child = spawn(program, args, {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "inherit", "inherit"],
    // A group, since some programs start others.
    detached: HAS_GROUPS,
  });
  let ended;
  child.once("error", (cause) => (ended = cause.message));
  child.once("exit", (code, signal) => (ended = signal ?? code));
  const stop = async () => {
    if (ended !== undefined) return;
    const gone = once(child, "exit");
    if (HAS_GROUPS) process.kill(-child.pid, "SIGKILL");
    else child.kill();
    await gone;
  };
  const deadline = Date.now() + START_MS;
  while (!await isTaken(port)) {
    if (ended !== undefined) throw new Error(`The handlers are not served: ${program} ${ended}`);
    if (Date.now() > deadline) {
      await stop();
      throw new Error(`Nothing listens on port ${port} after ${START_MS / 1000} s`);
    }
    await sleep(50);
  }
  return { port, stop };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

function isTaken(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const done = (isOpen) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => done(true)).once("error", () => done(false));
  });
}
