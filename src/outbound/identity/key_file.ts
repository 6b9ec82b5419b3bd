import type { Clock, Log } from "../../ports.ts";
import { BadKey, type PrivateKey, readPrivateKey } from "./private_key.ts";

/** How often the file is read again. */
const LOOK_AGAIN_MS = 3000;

/** A private key in a file that may change while we run. */
export class KeyFile {
  readonly #read: () => Promise<string>;
  readonly #deps: { readonly clock: Clock; readonly log: Log };
  #known = "";
  /** What was wrong with the file last time. It is told to the log once. */
  #complaint = "";
  #isClosed = false;
  #forget = () => {};

  /** `read` rejects when there is no such file, or it cannot be read. */
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

  /** Tells of each new key. A file that cannot be read changes nothing: the log is told. */
  watch(changed: (key: PrivateKey) => void): void {
    if (this.#isClosed) return;
    const { clock } = this.#deps;
    this.#forget = clock.at(clock.now() + LOOK_AGAIN_MS, () => {
      this.#look(changed).then(() => this.watch(changed));
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#forget();
  }

  /** Never rejects. */
  async #look(changed: (key: PrivateKey) => void): Promise<void> {
    try {
      const text = await this.#read();
      const key = text === this.#known ? undefined : await readPrivateKey(text);
      this.#known = text;
      this.#complaint = "";
      if (key && !this.#isClosed) changed(key);
    } catch (cause) {
      this.#complain(reasonOf(cause));
    }
  }

  #complain(reason: string): void {
    if (reason === this.#complaint || this.#isClosed) return;
    this.#complaint = reason;
    const message = "Cannot read the request identity key again; the old one stays in use";
    this.#deps.log("error", message, { cause: reason });
  }
}

/** A platform's own words about a key could quote it. Those about a file may be read by anyone. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof BadKey) return cause.message;
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === "string" ? String(message) : "the platform cannot use the key";
}
