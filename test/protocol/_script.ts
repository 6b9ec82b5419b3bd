import { Attempt, type Exchange } from "./_script_attempt.ts";
import { type Manifest, manifestOf, manifestType } from "./_script_manifest.ts";
import { listen, type Listener, type ListenOptions } from "./_script_server.ts";
import type { Target } from "./_target.ts";

/** How an endpoint behaves in one attempt. When it returns without an end, the stream stays open. */
export type Play = (attempt: Attempt) => Promise<void> | void;

/** An answer to discovery other than the usual. */
export interface Discovery {
  readonly status?: number;
  readonly contentType?: string | undefined;
  readonly body?: unknown;
}

export interface ScriptOptions extends Manifest, Omit<ListenOptions, "transport"> {
  /** Base path, `/a/b`. */
  readonly base?: string;
  /** Called with the number of the discovery, from 1, and the usual manifest. */
  readonly discover?: (count: number, manifest: Record<string, unknown>) => Discovery;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** JSON as tests look at it. */
export type Json = Record<string, unknown>;

let names = 0;

/**
 * An endpoint that speaks the service protocol frame by frame, as a script says. Its services have
 * names of their own, so that tests can share a server.
 */
export class Script {
  readonly name = `Script${++names}`;
  readonly object = `${this.name}Obj`;
  readonly attempts: Attempt[] = [];
  readonly discoveries: Exchange[] = [];
  /** Other requests than those of the protocol: there must be none. */
  readonly strays: Exchange[] = [];
  readonly target: Target;
  /** Rejects when a script throws: nothing else would tell why an invocation does not end. */
  readonly broken: Promise<never>;
  readonly #options: ScriptOptions;
  readonly #plays: readonly Play[];
  #listener: Listener | undefined;
  #break: (cause: unknown) => void = () => {};

  /** `plays` by attempt of an invocation; the last one goes on being played. */
  constructor(target: Target, options: ScriptOptions, plays: readonly Play[]) {
    this.target = target;
    this.#options = options;
    this.#plays = plays;
    this.broken = new Promise((_, reject) => (this.#break = reject));
    this.broken.catch(() => {});
  }

  async start(): Promise<void> {
    const { transport = "h2", ...options } = this.#options;
    this.#listener = await listen({ transport, ...options }, (exchange) => this.#take(exchange));
  }

  get listener(): Listener {
    if (!this.#listener) throw new Error("The endpoint was not started");
    return this.#listener;
  }

  get url(): string {
    return `http://127.0.0.1:${this.listener.port}${this.#options.base ?? ""}`;
  }

  async register(more: Json = {}): Promise<Answer & { readonly body: Json }> {
    const use_http_11 = this.#options.transport === "h1";
    const answer = await this.post(`${this.target.admin}/deployments`, {
      body: JSON.stringify({ uri: this.url, use_http_11, ...more }),
    });
    return { ...answer, body: JSON.parse(answer.text) };
  }

  /** Calls a handler: of the plain service, or `{object}/key/run`. */
  call(path = `${this.name}/run`, init: RequestInit = {}): Promise<Answer> {
    const { ingress, word } = this.target;
    return this.post(`${ingress}/${word}/call/${path}`, init);
  }

  /** Sends to a handler, and answers the invocation's id. */
  async send(path = `${this.name}/run`): Promise<string> {
    const { ingress, word } = this.target;
    const { text } = await this.post(`${ingress}/${word}/send/${path}`, {});
    return (JSON.parse(text) as { invocationId: string }).invocationId;
  }

  /** `PATCH /invocations/{id}/{operation}` */
  operate(id: string, operation: "pause" | "resume" | "kill" | "cancel"): Promise<Answer> {
    return this.post(`${this.target.admin}/invocations/${id}/${operation}`, { method: "PATCH" });
  }

  /**
   * The code recorded of the last failed attempt of an invocation that is not over (`RT0012`);
   * null: none. Undefined from a server that has no SQL queries to ask it with.
   */
  failureCode(id: string): Promise<string | null | undefined> {
    return this.#column(id, "last_failure_error_code");
  }

  /** Its code and words, as people read them (`[409 Aborted] busy`). */
  failureText(id: string): Promise<string | null | undefined> {
    return this.#column(id, "last_failure");
  }

  /** Where an invocation stands, as SQL queries tell (`backing-off`). */
  status(id: string): Promise<string | null | undefined> {
    return this.#column(id, "status");
  }

  /** Attempts of its current run, as SQL queries tell, the running one included. */
  async retryCount(id: string): Promise<number> {
    return Number(await this.#column(id, "retry_count"));
  }

  async #column(id: string, name: string): Promise<string | null | undefined> {
    const query = `select ${name} as x from sys_invocation where id = '${id}'`;
    const { status, text } = await this.post(`${this.target.admin}/query`, {
      body: JSON.stringify({ query }),
      headers: { accept: "application/json" },
    });
    if (status === 404) return undefined;
    const { rows: [row] } = JSON.parse(text) as { rows: { x: string }[] };
    return row?.x ?? null;
  }

  /** A POST, or what `init` says, that fails when a script does. */
  post(url: string, init: RequestInit): Promise<Answer> {
    const headers = { "content-type": "application/json", ...init.headers };
    const ask = async () => {
      const response = await fetch(url, { method: "POST", ...init, headers });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const answer = Promise.race([ask(), this.broken]);
    // A test that failed does not look at it any more.
    answer.catch(() => {});
    return answer;
  }

  /** Attempts of one invocation. */
  of(id: string): readonly Attempt[] {
    return this.attempts.filter((one) => one.id === id);
  }

  async close(): Promise<void> {
    await this.#listener?.leave();
  }

  #take(exchange: Exchange): void {
    const { base = "" } = this.#options;
    if (exchange.path === `${base}/discover` && exchange.method === "GET") {
      this.discoveries.push(exchange);
      this.#tell(exchange);
    } else if (exchange.path.startsWith(`${base}/invoke/`) && exchange.method === "POST") {
      void this.#play(exchange);
    } else {
      this.strays.push(exchange);
      exchange.respond(404, {});
      exchange.end();
    }
  }

  #tell(exchange: Exchange): void {
    exchange.listen({ data: () => {}, end: () => {}, close: () => {} });
    const manifest = manifestOf(this.name, this.#options);
    const usual = { status: 200, contentType: manifestType(4), body: manifest };
    const said = this.#options.discover?.(this.discoveries.length, manifest);
    const { status, contentType, body } = { ...usual, ...said };
    exchange.respond(status, {
      ...(contentType !== undefined && { "content-type": contentType }),
      "x-restate-server": "scripted/1.0",
    });
    void exchange.write(new TextEncoder().encode(JSON.stringify(body)));
    exchange.end();
  }

  async #play(exchange: Exchange): Promise<void> {
    const id = String(exchange.headers["x-restate-invocation-id"]);
    const attempt = new Attempt(exchange, this.of(id).length + 1);
    this.attempts.push(attempt);
    const play = this.#plays[Math.min(attempt.number, this.#plays.length) - 1];
    try {
      await play?.(attempt);
    } catch (cause) {
      const path = `attempt ${attempt.number} of ${exchange.path}`;
      this.#break(new Error(`The script failed in ${path}: ${cause}`, { cause }));
      attempt.reset();
    }
  }
}
