import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import path from "node:path";
import { emptyHome } from "../package/_installed.ts";
import { ownFolder } from "./_built.ts";

const STEP_MS = 280_000;

/** A person with an empty home and these programs alone, who does one thing after the other. */
export class Newcomer {
  /** An empty folder. */
  readonly folder = path.join(ownFolder(), "work");
  readonly env: Readonly<Record<string, string>>;
  readonly #times: string[] = [];

  /** `programs`: where they are, by their names. `registry`: what npm and Deno install from. `more`:
   * variables; those of PATH come behind the programs. */
  constructor(
    programs: Readonly<Record<string, string>>,
    registry: string,
    more: Readonly<Record<string, string>> = {},
  ) {
    const root = path.dirname(this.folder);
    const bin = path.join(root, "bin");
    for (const folder of [this.folder, bin]) mkdirSync(folder);
    const all = { sh: found("sh"), env: found("env"), ...programs };
    for (const [name, file] of Object.entries(all)) symlinkSync(file, path.join(bin, name));
    // Nothing was fetched before.
    const { NPM_CONFIG_PREFER_OFFLINE: _, ...others } = emptyHome(root);
    const cache = path.join(root, "cache");
    this.env = {
      ...others,
      ...more,
      // What one project has compiled is not compiled again for the next one.
      CARGO_TARGET_DIR: path.join(root, "target"),
      PATH: [bin, ...(more["PATH"] ? [more["PATH"]] : [])].join(path.delimiter),
      ...{ NPM_CONFIG_CACHE: cache, NPM_CONFIG_REGISTRY: registry, DO_NOT_TRACK: "1" },
      ...{ NPM_CONFIG_UPDATE_NOTIFIER: "false", NPM_CONFIG_AUDIT: "false" },
    };
  }

  /** The words of a command that sees nothing else of this process. */
  words(command: string, folder = this.folder): [string, ...string[]] {
    const variables = Object.entries(this.env).map(([name, text]) => `${name}=${text}`);
    return ["env", "-i", `--chdir=${folder}`, ...variables, "sh", "-c", command];
  }

  /** Runs a command to its end and answers what it prints. Rejects with that when it fails. */
  async runs(command: string, folder?: string): Promise<string> {
    return await this.timed(command, async () => await ended(this.words(command, folder)));
  }

  /** Does something, and remembers how long it takes. */
  async timed<T>(what: string, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await work();
    this.#times.push(`${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s  ${what}`);
    return result;
  }

  /** How long each step took. */
  times(): string {
    return this.#times.join("\n");
  }
}

/** The program of this machine that has this name. */
export function found(name: string): string {
  const file = execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
  return realpathSync(file);
}

function ended([program, ...args]: [string, ...string[]]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout: STEP_MS });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (piece) => void (output += piece));
    child.stderr.setEncoding("utf8").on("data", (piece) => void (output += piece));
    child.once("error", reject).once("close", (code, signal) => {
      if (code === 0) return resolve(output);
      reject(new Error(`${args.at(-1)} ended with ${signal ?? code}: ${output}`));
    });
  });
}

/** The npm of this machine, and a Node for it. */
export function nodeAlone(node: string): Readonly<Record<string, string>> {
  return { node, npm: found("npm"), npx: found("npx") };
}

/** The registry that this machine installs from. */
export function upstream(): string {
  return execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
}

/** Whether the registry answers: without it, no newcomer gets anywhere. */
export async function isReachable(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(20_000);
  return await fetch(new URL("npm", url), { method: "HEAD", signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}
