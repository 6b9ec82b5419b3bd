import path from "node:path";
import process from "node:process";
import { denoProgram, nodeEntry } from "../support/build.ts";
import { Child, until } from "../support/child.ts";
import { TOKEN } from "./_fake_server.ts";

export interface SidecarOptions {
  readonly url: string;
  readonly args?: readonly string[];
  readonly runtime?: "node" | "deno";
  readonly token?: string;
  /** What its server knows of it: told by a test that waits in vain. */
  readonly state?: () => unknown;
}

/** A sidecar in a process of its own. */
export class SidecarProcess {
  readonly child: Child;
  readonly state: () => unknown;

  constructor(
    { url, args = [], runtime = "node", token = TOKEN, state = () => undefined }: SidecarOptions,
  ) {
    this.state = state;
    const flags = [`--kafka.servers=${url}`, "--log-level=debug", ...args];
    this.child = new Child(commandOf(runtime, flags), { SVC_KAFKA__TOKEN: token });
  }

  /** What it has logged, by message. */
  logs(message: string): Record<string, unknown>[] {
    const lines = this.child.output().split("\n").filter((line) => line.startsWith("{"));
    return lines.map((line) => JSON.parse(line)).filter((record) => record.message === message);
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | NodeJS.Signals> {
    return await this.child.stop(signal);
  }
}

function commandOf(
  runtime: "node" | "deno",
  flags: readonly string[],
): readonly [string, ...string[]] {
  if (runtime === "node") {
    return [process.execPath, path.join(path.dirname(nodeEntry()), "kafka.mjs"), ...flags];
  }
  const script = path.resolve(import.meta.dirname, "../../adapters/kafka.ts");
  return [denoProgram(), "run", "-A", script, ...flags];
}

/** Waits for something that a broker, a sidecar and a server do together. */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  sidecar?: SidecarProcess,
): Promise<void> {
  await until(what, check, 30_000).catch((cause) => {
    const known = sidecar && `${sidecar.child.output()}\n${JSON.stringify(sidecar.state())}`;
    throw new Error([(cause as Error).message, known].join("\n"), { cause });
  });
}
