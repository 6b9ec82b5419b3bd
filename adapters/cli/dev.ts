import path from "node:path";
import process from "node:process";
import { type Given, textOf } from "./about.ts";
import { callLines } from "./call_lines.ts";
import { Endpoint, isTaken } from "./endpoint_process.ts";
import { CommandFailure } from "./failure.ts";
import { paint } from "./output.ts";
import { countOf, type Registered } from "./register.ts";
import { ServerClient } from "./server_client.ts";
import { type RunningServer, startServer } from "./server_process.ts";
import { watchSources } from "./source_watch.ts";

const PORT = 9080;
const PORT_MAX = 65_535;
/**
 * What its user does not need to see of the server, and one thread: it waits for its user for most of the
 * time. Flags behind `--` win.
 */
const QUIET = ["--log-format", "pretty", "--log-level", "warn", "--threads", "1"];

/**
 * `perdure dev`: a server, and an endpoint that is started and registered again when a source beside it
 * changes. Runs until a signal. Rejects with `CommandFailure` when one of them cannot start.
 */
export async function dev(given: Given, isJson: boolean): Promise<void> {
  const [file = ""] = given.arguments;
  const port = countOf(given, "port", PORT_MAX) ?? PORT;
  const endpoint = new Endpoint(file, { port, runtime: textOf(given, "runtime") });
  if (await isTaken(port)) {
    throw new CommandFailure(
      "failed",
      `Cannot start the endpoint: port ${port} is in use. Stop what uses it, or choose another with --port`,
    );
  }
  const say = reporter(isJson);
  const server = await startServer({ args: [...QUIET, ...given.rest] }).catch((cause) => {
    throw new CommandFailure("failed", (cause as Error).message, { cause });
  });
  await new Session(server, { endpoint, file, say, given }).run();
}

interface Event {
  readonly event: "ready" | "registered" | "changed" | "failed" | "ended";
  readonly [field: string]: unknown;
}

type Say = (event: Event, text: string) => void;

function reporter(isJson: boolean): Say {
  return (event, text) => process.stdout.write(`${isJson ? JSON.stringify(event) : text}\n`);
}

/** From the moment the server is ready until a signal, or until the server ends. */
class Session {
  readonly #server: RunningServer;
  readonly #endpoint: Endpoint;
  readonly #file: string;
  readonly #say: Say;
  readonly #client: ServerClient;
  /** One after the other: the next endpoint wants the port of the one before. */
  #work = Promise.resolve();
  #isEnding = false;

  constructor(
    server: RunningServer,
    options: {
      readonly endpoint: Endpoint;
      readonly file: string;
      readonly say: Say;
      readonly given: Given;
    },
  ) {
    this.#server = server;
    this.#endpoint = options.endpoint;
    this.#file = path.resolve(options.file);
    this.#say = options.say;
    this.#client = new ServerClient({ ...options.given, flags: { admin: server.admin } });
  }

  async run(): Promise<void> {
    const { ingress, admin, ended } = this.#server;
    const ui = `${admin}/ui/`;
    this.#say({ event: "ready", ingress, admin, ui }, `${paint("bold", "UI")}  ${ui}`);
    this.#endpoint.onEnd = (how) =>
      this.#say(
        { event: "ended", how },
        paint("yellow", `The endpoint ended (${how}). A change starts it again`),
      );
    const folder = path.dirname(this.#file);
    const watch = watchSources(folder, this.#server.data, (name) => this.#changed(name));
    this.#queue(() => this.#start());
    const how = await Promise.race([ended, signaled()]);
    this.#isEnding = true;
    watch.close();
    await this.#endpoint.stop();
    await this.#server.stop();
    if (how === "signal") process.exit(0);
    throw new CommandFailure("failed", `The server ended (${how}); its log says why`);
  }

  #queue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((cause) => {
      const message = cause instanceof Error ? cause.message : String(cause);
      if (!this.#isEnding) this.#say({ event: "failed", message }, paint("red", message));
    });
  }

  #changed(name: string): void {
    this.#queue(async () => {
      if (this.#isEnding) return;
      this.#say({ event: "changed", file: name }, paint("dim", `${name} changed`));
      await this.#endpoint.stop();
      await this.#start();
    });
  }

  async #start(): Promise<void> {
    await this.#endpoint.start();
    const { json } = await this.#client.ask("admin", "/deployments", {
      method: "POST",
      body: JSON.stringify({ uri: this.#endpoint.url, force: true }),
    });
    const { id, services } = json as Registered;
    const calls = callLines(this.#server.ingress, services);
    this.#say(
      { event: "registered", deployment: id, services: services.map(({ name }) => name), calls },
      [`Registered ${services.map(({ name }) => name).join(", ")}`, ...calls].join("\n  "),
    );
  }
}

/** Resolves at the first signal that ends a program. A second one ends this process at once. */
function signaled(): Promise<"signal"> {
  return new Promise((resolve) => {
    let isEnding = false;
    const end = () => {
      if (isEnding) process.exit(130);
      isEnding = true;
      resolve("signal");
    };
    // The endpoint, in a group of its own, does not hear of a terminal that is closed.
    process.on("SIGINT", end).on("SIGTERM", end).on("SIGHUP", end);
  });
}
