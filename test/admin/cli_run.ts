import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Target } from "../protocol/_target.ts";

/** What a command printed, errors and tips last, and how it ended. */
export interface Said {
  readonly code: number | null;
  readonly text: string;
}

/** The command line, unmodified, pointed at one server by its own environment variables. */
export class Cli {
  readonly #program: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #home: string;

  /** `token`: what it shows to the server. */
  constructor(
    program: string,
    { admin, ingress }: Pick<Target, "admin" | "ingress">,
    token?: string,
  ) {
    this.#program = program;
    this.#home = mkdtempSync(path.join(tmpdir(), "cli-"));
    this.#env = {
      PATH: process.env["PATH"],
      HOME: this.#home,
      RESTATE_CLI_CONFIG_HOME: this.#home,
      RESTATE_ADMIN_URL: admin,
      RESTATE_INGRESS_URL: ingress,
      // The one that is asked for before VISUAL and EDITOR.
      RESTATE_EDITOR: path.join(this.#home, "editor"),
      NO_COLOR: "1",
      ...(token !== undefined && { RESTATE_AUTH_TOKEN: token }),
    };
  }

  /**
   * Runs one command. `editor`: a `sed` expression, done to the file that the command has edited.
   */
  run(args: readonly string[], editor = ""): Promise<Said> {
    const script = `#!/bin/sh\nexec sed -i '${editor}' "$1"\n`;
    writeFileSync(path.join(this.#home, "editor"), script, { mode: 0o755 });
    const child = spawn(this.#program, args, {
      cwd: this.#home,
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const texts = ["", ""];
    for (const [at, stream] of [child.stdout, child.stderr].entries()) {
      stream.setEncoding("utf8").on("data", (chunk: string) => void (texts[at] += chunk));
    }
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, text: texts.join("") }));
    });
  }

  close(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** A command line as a shell splits it: words, and words in single quotes. */
export function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
}

const BLURRED: readonly (readonly [RegExp, string])[] = [
  [/inv_1[0-9a-zA-Z]{20,}/g, "INV"],
  [/vq_1[0-9a-zA-Z]{33}/g, "VQ"],
  [/dp_1[0-9a-zA-Z]{22}/g, "DP"],
  [/sub_1[0-9a-zA-Z]{22}/g, "SUB"],
  [/\/tmp\/cli-\w+/g, "HOME"],
  [/http:\/\/(127\.0\.0\.1|\[[\da-f:]+\]|[\d.]+):\d{3,}/g, "URL"],
  [/\w{3} \d+ \w{3} \d{4} [\d:]+ \+00:00/g, "TIME"],
  [/\d{4}-\d\d-\d\d[T ][\d:.]+(Z| \+00:00)?/g, "TIME"],
  [/(\d+ (seconds?|ms|milliseconds?|minutes?|hours?)( and |, )?)+/g, "SOME "],
  [/\bnow ago\b/g, "SOME ago"],
  [/Query took .*/g, "Query took SOME"],
  // Who is asked for who had a key last without an order gives any of its last.
  [/INV \(completed\) +\w+/g, "INV (completed) SOME"],
  [/\n *at (async )?\w.*/g, ""],
  [/[─―]{3,}/g, "―"],
  [/[^\S\n]+/g, " "],
];

/**
 * What two servers must have in common: ids, times and addresses blurred, and the lines (`isLoose`:
 * the words) sorted, since neither promises an order of what it lists.
 */
export function comparable({ code, text }: Said, isLoose = false): string[] {
  const blurred = BLURRED.reduce((all, [pattern, by]) => all.replace(pattern, by), text);
  const lines = blurred.split(isLoose ? /[\s,[\]]/ : "\n").map((line) => line.trim())
    .filter((line) => line !== "");
  return [`ended with ${code}`, ...lines.toSorted()];
}
