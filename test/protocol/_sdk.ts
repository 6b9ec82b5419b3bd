import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Child, freePorts, until } from "../support/child.ts";
import { type Attempt, isSuspended, readWire } from "./_wire.ts";

/**
 * `h2`: bidirectional over cleartext HTTP/2. `h1`: request-response over HTTP/1.1. `h1bidi`:
 * bidirectional over HTTP/1.1. `h2rr`: request-response over HTTP/2.
 */
export type SdkTransport = "h2" | "h1" | "h1bidi" | "h2rr";

export interface SdkOptions {
  readonly transport: SdkTransport;
  /** Added to every service name, so that endpoints share a server. */
  readonly suffix?: string;
  /** `publickeyv1_…`: requests must be signed by one of these. */
  readonly identityKeys?: readonly string[];
  /** What the handler `revision` answers. */
  readonly revision?: string;
}

const SERVICES = path.join(import.meta.dirname, "services_protocol.mjs");

/** The real SDK with the handlers of the checklist, in a process of its own, every frame noted. */
export class SdkEndpoint {
  readonly transport: SdkTransport;
  readonly suffix: string;
  readonly url: string;
  readonly folder: string;
  readonly #command: readonly [string, ...string[]];
  #child: Child | undefined;

  constructor(port: number, options: SdkOptions) {
    this.transport = options.transport;
    this.suffix = options.suffix ?? "";
    this.url = `http://127.0.0.1:${port}`;
    this.folder = mkdtempSync(path.join(tmpdir(), "endpoint-"));
    const argument = JSON.stringify({ port, folder: this.folder, ...options });
    this.#command = [process.execPath, SERVICES, argument];
  }

  async start(): Promise<void> {
    const child = this.#child = new Child(this.#command, { RESTATE_LOGGING: "ERROR" });
    await until("the endpoint to listen", () => {
      if (!child.isAlive()) throw new Error(`The endpoint ended: ${child.output()}`);
      return child.output().includes("ready");
    });
  }

  async stop(): Promise<void> {
    await this.#child?.stop();
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The side effects so far, one a line. */
  lines(): string[] {
    return this.#read("log").split("\n").slice(0, -1);
  }

  /** How often a side effect happened. */
  count(line: string): number {
    return this.lines().filter((one) => one === line).length;
  }

  /** Waits until a side effect has happened so many times. */
  async happens(line: string, times = 1): Promise<void> {
    await until(`"${line}"`, () => this.count(line) >= times);
  }

  /** Waits for a line that begins so, and answers what follows. */
  async announces(head: string): Promise<string> {
    const find = () => this.lines().find((one) => one.startsWith(`${head} `));
    await until(`"${head} …"`, () => find() !== undefined);
    return find()?.slice(head.length + 1) ?? "";
  }

  /** Lets what is held under this id go on, now and later. */
  release(id: string): void {
    appendFileSync(path.join(this.folder, `${id}.go`), "");
  }

  /** What comes from now on under this id is held again. */
  unrelease(id: string): void {
    rmSync(path.join(this.folder, `${id}.go`));
  }

  /** The attempts of one invocation that the endpoint saw, in order; without an id every request. */
  attempts(invocation?: string): Attempt[] {
    const all = readWire(this.#read("wire"));
    return invocation === undefined ? all : all.filter((one) => one.invocation === invocation);
  }

  /** Waits until the last attempt satisfies `check`, and answers it. */
  async attempt(
    what: string,
    invocation: string,
    check: (attempt: Attempt, number: number) => boolean,
  ): Promise<Attempt> {
    const find = () => {
      const all = this.attempts(invocation);
      const last = all.at(-1);
      return last && check(last, all.length) ? last : undefined;
    };
    await until(what, () => find() !== undefined);
    const found = find();
    if (!found) throw new Error(`It passed by: ${what}`);
    return found;
  }

  /** Waits until an invocation is suspended, and answers its last attempt, closed. */
  async suspends(invocation: string): Promise<Attempt> {
    return await this.attempt(
      "a suspension",
      invocation,
      (one) => isSuspended(one) && one.closedAt !== undefined,
    );
  }

  logs(): string {
    return this.#child?.output() ?? "";
  }

  #read(name: string): string {
    const file = path.join(this.folder, name);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }
}

/** Starts an endpoint on a free port. */
export async function startSdk(options: SdkOptions): Promise<SdkEndpoint> {
  const [port = 0] = await freePorts(1);
  const endpoint = new SdkEndpoint(port, options);
  await endpoint.start();
  return endpoint;
}
