import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A process of a test's own: started, listened to, and stopped by its pid and no other's. */
export class Child {
  readonly #process: ChildProcess;
  readonly #isGroup: boolean;
  readonly #ended: Promise<number | NodeJS.Signals>;
  #output = "";
  #end: number | NodeJS.Signals | undefined;

  /** `isGroup`: signals go to the processes it started as well, which a shell or npm may keep from them. */
  constructor(
    command: readonly [string, ...string[]],
    env: NodeJS.ProcessEnv = {},
    { isGroup = false }: { readonly isGroup?: boolean } = {},
  ) {
    const [file, ...args] = command;
    this.#isGroup = isGroup;
    this.#process = spawn(file, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: isGroup,
    });
    alive.add(this);
    const hear = (chunk: unknown) => void (this.#output += chunk);
    this.#process.stdout?.setEncoding("utf8").on("data", hear);
    this.#process.stderr?.setEncoding("utf8").on("data", hear);
    this.#ended = new Promise((resolve) => {
      const done = (end: number | NodeJS.Signals) => {
        this.#end = end;
        alive.delete(this);
        resolve(end);
      };
      this.#process.once("error", (cause) => (hear(String(cause)), done(-1)));
      this.#process.once("close", (code, signal) => done(code ?? signal ?? -1));
    });
  }

  /** Everything it printed so far, both streams. */
  output(): string {
    return this.#output;
  }

  /** Undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  isAlive(): boolean {
    return this.#end === undefined;
  }

  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (!this.#isGroup || pid === undefined) return void this.#process.kill(signal);
    // The group lives until the last of its processes has ended.
    if (this.isAlive()) process.kill(-pid, signal);
  }

  /** Resolves with the exit code or the signal that ended it. */
  ended(): Promise<number | NodeJS.Signals> {
    return this.#ended;
  }

  /** Signals it, waits for its end, and answers how it ended. */
  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<number | NodeJS.Signals> {
    // A stopped process hears nothing but this.
    if (this.isAlive() && signal !== "SIGKILL") this.signal("SIGCONT");
    this.signal(signal);
    return await this.#ended;
  }
}

const alive = new Set<Child>();
// The last resort for a test that was cut off: nothing it began outlives it.
process.once("exit", () => {
  for (const child of alive) child.signal("SIGKILL");
});

/** Waits until `check` answers true, looking every few milliseconds, and no longer than `withinMs`. */
export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (let waitMs = 2; !await check(); waitMs = Math.min(waitMs * 2, 50)) {
    if (Date.now() > deadline) throw new Error(`Gave up after ${withinMs} ms waiting for ${what}`);
    await sleep(waitMs);
  }
}

/** Ports that nobody listens on. All are different, also from those of earlier calls and other workers. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === TRIES_MAX) throw new Error("Cannot find a free port on 127.0.0.1");
    const port = PORT_MIN + WORKER * WORKER_PORTS + Math.floor(Math.random() * WORKER_PORTS);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

/**
 * Systems give outgoing connections a port from 32,768 on (Linux) or higher, and one that was free may
 * be taken before the process that is told of it listens. Nobody takes ports of this range unasked.
 */
const PORT_MIN = 10_100;
const PORT_MAX = 32_000;
const TRIES_MAX = 1_000;

/**
 * Files of tests run at the same time, each in one of the workers of Vitest. A process takes up to a
 * second until it listens, and among thousands of ports of a run two files would choose the same one.
 */
const WORKERS_MAX = 16;
const WORKER = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS_MAX;
const WORKER_PORTS = Math.floor((PORT_MAX - PORT_MIN) / WORKERS_MAX);
const given = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
