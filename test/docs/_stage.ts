import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeEntry } from "../support/build.ts";
import { Child, freePorts, until } from "../support/child.ts";
import { Broker, brokerTools } from "../kafka/broker/broker.ts";
import { Sqld, sqldProgram } from "../support/sqld.ts";
import { WorkerdServer } from "../workerd/_server.ts";
import { matches } from "./_match.ts";
import type { Step } from "./_page.ts";
import { programs, type Published } from "./_programs.ts";

/** The ports that pages name. Each page gets free ones in their place. */
const NAMED_PORTS = [
  ...[8080, 8081, 8787, 9070, 9071, 9080, 9081, 9082, 9083, 9092, 5122, 5123, 8090],
];
/** How long a command may take, and how long one in the background may take to listen. */
const COMMAND_MS = 60_000;
/** How long one in the background may take to end, and to end what it has started. */
const STOP_MS = 3_000;

type Shell = Step & { readonly kind: "shell" };

export interface StageOptions {
  readonly published?: Published;
  /** The Node that runs scripts and `npx perdure`. Default: that of the tests. */
  readonly node?: string;
}

interface Beside {
  start(): Promise<void>;
  close(): Promise<void>;
}

/** A folder, free ports and programs in which the commands of one page run as its reader would run them. */
export class Stage {
  readonly #folder: string;
  readonly #ports: ReadonlyMap<string, number>;
  readonly #env: NodeJS.ProcessEnv;
  readonly #background: { readonly line: number; readonly child: Child }[] = [];
  readonly #beside: Beside[] = [];
  /** Files that hold the folder and the variables in which the next command runs. */
  readonly #cwd: string;
  readonly #exports: string;
  #scripts = 0;

  constructor(ports: readonly number[], { published = new Map(), node }: StageOptions = {}) {
    this.#folder = mkdtempSync(path.join(tmpdir(), "docs-"));
    this.#ports = new Map(NAMED_PORTS.map((named, at) => [String(named), ports[at] ?? 0]));
    const [bin, home, copy] = [this.#state("bin"), this.#state("home"), this.#state("copy")];
    this.#cwd = this.#state("shell", "cwd");
    this.#exports = this.#state("shell", "exports");
    writeFileSync(this.#cwd, copy);
    symlinkSync(path.dirname(nodeEntry()), path.join(copy, "dist"));
    const options = { published, node: node ?? process.execPath, endpoint: this.#port(9080) };
    for (const [name, script] of Object.entries(programs(copy, options))) {
      writeFileSync(path.join(bin, name), `#!/bin/bash\n${script}`);
      chmodSync(path.join(bin, name), 0o755);
    }
    const passed = Object.entries(process.env)
      .filter(([name]) => !/^(SVC_|RESTATE_|DATABASE_|npm_|VITEST|NODE_)/.test(name));
    this.#env = {
      ...Object.fromEntries(passed),
      HOME: home,
      PATH: `${bin}:${process.env["PATH"]}`,
      SVC_INGRESS__BIND_PORT: this.#text("8080"),
      SVC_ADMIN__BIND_PORT: this.#text("9070"),
      PERDURE_INGRESS: this.#text("http://127.0.0.1:8080"),
      PERDURE_ADMIN: this.#text("http://127.0.0.1:9070"),
      RESTATE_INGRESS_URL: this.#text("http://127.0.0.1:8080"),
      RESTATE_ADMIN_URL: this.#text("http://127.0.0.1:9070"),
      RESTATE_LOGGING: "ERROR",
      NO_COLOR: "1",
    };
  }

  /** Does one step of the page. Throws when it does not do what the page says. */
  async do(step: Step): Promise<void> {
    switch (step.kind) {
      case "skip":
        return;
      case "server":
        return await this.#server(step.line);
      case "sqld":
        return await this.#place(new Sqld(await sqldProgram() ?? "", this.#port(8090)));
      case "workerd": {
        const folder = this.#state("workerd");
        return await this.#place(
          new WorkerdServer(folder, [this.#port(8080), this.#port(9070)], {}),
        );
      }
      case "kafka": {
        const [controller = 0] = await freePorts(1);
        const plain = this.#port(9092);
        const broker = new Broker(await brokerTools() ?? "", {
          plain,
          controller,
          sasl: 0,
          mutual: 0,
        });
        return await this.#place(broker);
      }
      case "file": {
        const file = path.join(readFileSync(this.#cwd, "utf8"), step.path);
        mkdirSync(path.dirname(file), { recursive: true });
        return writeFileSync(file, this.#text(step.text));
      }
      case "shell":
        if (step.how === "background") return await this.#start(step);
        return await this.#run(step);
    }
  }

  /** What the commands in the background printed. */
  logs(): string {
    return this.#background.map(({ line, child }) => `[line ${line}] ${child.output()}`).join("\n");
  }

  /** Ends all that the page has started, and forgets its folder. */
  async close(): Promise<void> {
    await Promise.all(this.#background.map(({ child }) => end(child)));
    await Promise.all(this.#beside.map((one) => one.close()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #server(line: number): Promise<void> {
    await this.#start({
      kind: "shell",
      line,
      text: "npm start",
      how: "background",
      ports: [8080, 9070],
    });
  }

  async #place(beside: Beside): Promise<void> {
    this.#beside.push(beside);
    await beside.start();
  }

  async #start({ line, text, ports = [], prints = "" }: Shell): Promise<void> {
    const own = ports.map((port) => this.#port(port));
    // A process that the page has killed may hold its port for a moment.
    await until(`${ports} to be free`, async () => !await any(own.map(listens)));
    const child = this.#spawn(text);
    this.#background.push({ line, child });
    const isAwaited = own.length > 0 || prints !== "";
    await until(`${ports} to be listened on, and "${prints}" to be printed`, async () => {
      if (isAwaited && !child.isAlive()) throw new Error(`It ended:\n${child.output()}`);
      if (!child.output().includes(prints)) return false;
      return !await any(own.map(async (port) => !await listens(port)));
    }, COMMAND_MS);
  }

  async #run(step: Shell): Promise<void> {
    const deadline = Date.now() + COMMAND_MS;
    for (;;) {
      const wrong = await this.#attempt(step, deadline);
      if (wrong === undefined) return;
      if (step.how !== "retry" || Date.now() > deadline) throw new Error(wrong);
      await sleep(200);
    }
  }

  /** Runs a command once. Answers what is wrong with what it did. */
  async #attempt(step: Shell, deadline: number): Promise<string | undefined> {
    const errors = this.#state("shell", "errors");
    // Variables and the folder at the end of a block are those of the next one, as in a terminal.
    const child = this.#spawn(
      `trap 'code=$?; printf %s "$PWD" > "${this.#cwd}"; export -p > "${this.#exports}"; exit $code' EXIT
      exec 2> "${errors}"
      ${step.text}`,
    );
    const timer = setTimeout(() => child.signal("SIGKILL"), deadline - Date.now());
    const end = await child.ended();
    clearTimeout(timer);
    const [printed, said] = [child.output(), readFileSync(errors, "utf8")];
    const shown = `${step.text}ended with ${end}\n${printed}\n${said}`;
    if ((end === 0) === (step.how === "fails")) return shown;
    const { expected } = step;
    if (expected === undefined || matches(printed, this.#text(expected))) return undefined;
    return `${shown}\nwhere the page says\n${expected}`;
  }

  #spawn(text: string): Child {
    const script = this.#state("shell", `block-${this.#scripts++}.sh`);
    const before = `[ -f "${this.#exports}" ] && . "${this.#exports}"
      cd "$(cat "${this.#cwd}")" || exit 1
      set -e -a -o pipefail\n`;
    writeFileSync(script, before + this.#text(text));
    return new Child(["bash", script], this.#env, { isGroup: true });
  }

  /** The text with the ports of this page in place of those that it names. */
  #text(text: string): string {
    return text.replaceAll(/\b\d{4}\b/g, (port) => String(this.#ports.get(port) ?? port));
  }

  #port(named: number): number {
    return this.#ports.get(String(named)) ?? named;
  }

  #state(folder: string, file = ""): string {
    mkdirSync(path.join(this.#folder, folder), { recursive: true });
    return path.join(this.#folder, folder, file);
  }
}

/** A stage with free ports. */
export async function openStage(options: StageOptions = {}): Promise<Stage> {
  return new Stage(await freePorts(NAMED_PORTS.length), options);
}

/** By a signal that can be passed on to what it has started. */
async function end(child: Child): Promise<void> {
  const timer = setTimeout(() => child.signal("SIGKILL"), STOP_MS);
  await child.stop("SIGTERM");
  clearTimeout(timer);
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => (socket.destroy(), resolve(true)));
    socket.once("error", () => resolve(false));
  });
}

async function any(answers: readonly Promise<boolean>[]): Promise<boolean> {
  return (await Promise.all(answers)).includes(true);
}
