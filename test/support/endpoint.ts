import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Child, freePorts, until } from "./child.ts";

/** `h2`: bidirectional over cleartext HTTP/2. `h1`: request-response over HTTP/1.1. */
export type Transport = "h2" | "h1";

/**
 * The transports of tests that take long. `.ci/run` says `TRANSPORTS=h2`: `test/protocol` and
 * `test/conformance` try both anyway.
 */
export const TRANSPORTS = (process.env["TRANSPORTS"] ?? "h2,h1").split(",") as readonly Transport[];

const SERVICES = path.join(import.meta.dirname, "services.mjs");

/** What a server of Node takes to speak TLS, as PEM. */
export interface EndpointTls {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
  readonly requestCert?: boolean;
}

export interface EndpointOptions {
  readonly script?: string;
  readonly tls?: EndpointTls | undefined;
}

/** The real SDK with the handlers of `services.mjs`, or another script, in a process of its own. */
export class Endpoint {
  readonly transport: Transport;
  readonly url: string;
  readonly folder: string;
  readonly #port: number;
  readonly #script: string;
  readonly #tls: EndpointTls | undefined;
  #child: Child | undefined;

  constructor(
    transport: Transport,
    port: number,
    { script = SERVICES, tls }: EndpointOptions = {},
  ) {
    this.#script = script;
    this.#tls = tls;
    this.transport = transport;
    this.url = `${tls ? "https" : "http"}://127.0.0.1:${port}`;
    this.folder = mkdtempSync(path.join(tmpdir(), "endpoint-"));
    this.#port = port;
  }

  async start(): Promise<void> {
    const { transport, folder } = this;
    const command = [
      process.execPath,
      this.#script,
      String(this.#port),
      transport,
      folder,
    ] as const;
    const child = this.#child = new Child(command, {
      RESTATE_LOGGING: "ERROR",
      ...(this.#tls && { ENDPOINT_TLS: JSON.stringify(this.#tls) }),
    });
    await until(`the endpoint to listen: ${child.output()}`, () => {
      if (!child.isAlive()) throw new Error(`The endpoint ended: ${child.output()}`);
      return child.output().includes("ready");
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
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
    const file = path.join(this.folder, "log");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  }

  /** How often a side effect happened. */
  count(line: string): number {
    return this.lines().filter((one) => one === line).length;
  }

  /** Waits until a side effect has happened. */
  async happens(line: string, times = 1): Promise<void> {
    await until(`"${line}"`, () => this.count(line) >= times, 15_000);
  }

  /** Waits for a side effect that begins so, and answers what follows. */
  async announces(head: string): Promise<string> {
    const find = () => this.lines().find((one) => one.startsWith(`${head} `));
    await until(`"${head} …"`, () => find() !== undefined, 15_000);
    return find()?.slice(head.length + 1) ?? "";
  }

  /** Lets what is held under this id go on, now and later. */
  release(id: string): void {
    appendFileSync(path.join(this.folder, `${id}.go`), "");
  }

  logs(): string {
    return this.#child?.output() ?? "";
  }
}

/** `script` takes the arguments that `services.mjs` takes. */
export async function startEndpoint(
  transport: Transport,
  script?: string,
  tls?: EndpointTls,
): Promise<Endpoint> {
  const [port = 0] = await freePorts(1);
  const endpoint = new Endpoint(transport, port, { ...(script !== undefined && { script }), tls });
  await endpoint.start();
  return endpoint;
}
