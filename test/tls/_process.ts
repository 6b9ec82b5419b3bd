import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { denoCommand, nodeEntry } from "../support/build.ts";
import { Child, until } from "../support/child.ts";

type Command = readonly [string, ...string[]];

/** How a server is started, by runtime. */
export const COMMANDS: Readonly<Record<string, () => Command>> = {
  node: () => [process.execPath, nodeEntry()],
  deno: denoCommand,
};

const START_MS = 30_000;
const folders: string[] = [], children: Child[] = [];

/** A temporary folder, until `closeAll`. */
export function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tls-"));
  folders.push(folder);
  return folder;
}

/** A process with these settings (`TLS__CERT_FILE`), a folder of its own and free ports. */
export function startProcess(command: Command, settings: Readonly<Record<string, string>>): Child {
  const all = {
    BASE_DIR: path.join(newFolder(), "data"),
    INGRESS__BIND_PORT: "0",
    ADMIN__BIND_PORT: "0",
    ...settings,
  };
  const env = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [`SVC_${name}`, value]),
  );
  const child = new Child(command, env);
  children.push(child);
  return child;
}

export interface Addresses {
  readonly ingress: string;
  readonly admin: string;
}

/** Waits until a process is ready, and answers the addresses that it prints. */
export async function ready(child: Child): Promise<Addresses> {
  const line = /is ready: ingress (\S+), admin (\S+), data/;
  await until("the server to be ready", () => {
    if (!child.isAlive()) throw new Error(child.output());
    return line.test(child.output());
  }, START_MS);
  const [, ingress = "", admin = ""] = line.exec(child.output())!;
  return { ingress, admin };
}

/** Stops all processes, and removes the folders. */
export async function closeAll(): Promise<void> {
  await Promise.all(children.splice(0).map((child) => child.stop()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
