import type { Clock, Log } from "../../ports.ts";
import { BadKey, type PrivateKey, readPrivateKey } from "./private_key.ts";

/** The interval of polling the file, in milliseconds. */
const POLL_MS = 3000;

/** A private key in a file that may change while the server runs. */
export class KeyFile {
  readonly #read: () => Promise<string>;
  readonly #deps: { readonly clock: Clock; readonly log: Log };
  #known = "";
  /** The last problem with the file, so that it is logged once. */
  #lastProblem = "";
  #isClosed = false;
  #forget = () => {};

  /** `read` rejects when the file does not exist or cannot be read. */
  constructor(
    read: () => Promise<string>,
    deps: { readonly clock: Clock; readonly log: Log },
  ) {
    this.#read = read;
    this.#deps = deps;
  }

  /** Reads the key. Rejects with `BadKey` or with what `read` rejects with. */
  async open(): Promise<PrivateKey> {
    this.#known = await this.#read();
    return readPrivateKey(this.#known);
  }

  /**
   * Calls `changed` with each new key. A file that cannot be read changes nothing and is logged.
   */
  watch(changed: (key: PrivateKey) => void): void {
    if (this.#isClosed) return;
    const { clock } = this.#deps;
    this.#forget = clock.at(clock.now() + POLL_MS, () => {
      this.#poll(changed).then(() => this.watch(changed));
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#forget();
  }

  /** Never rejects. */
  async #poll(changed: (key: PrivateKey) => void): Promise<void> {
    try {
      const text = await this.#read();
      const key = text === this.#known ? undefined : await readPrivateKey(text);
      this.#known = text;
      this.#lastProblem = "";
      if (key && !this.#isClosed) changed(key);
    } catch (cause) {
      this.#logOnce(reasonOf(cause));
    }
  }

  #logOnce(reason: string): void {
    if (reason === this.#lastProblem || this.#isClosed) return;
    this.#lastProblem = reason;
    const message = "Cannot read the request identity key again; the old one stays in use";
    this.#deps.log("error", message, { cause: reason });
  }
}

/**
 * Why a key cannot be used. The platform's message about a key is left out because it could quote
 * the key; its message about a file is kept.
 */
export function reasonOf(cause: unknown): string {
  if (cause instanceof BadKey) return cause.message;
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === "string" ? String(message) : "the platform cannot use the key";
}
