import { Failure } from "../errors.ts";
import { type Dialect, header } from "../names.ts";
import { unknownName } from "../nearest.ts";
import type { Log } from "../ports.ts";

/** Unknown names of one request that are looked at. Further ones are passed over. */
const NAMES_MAX = 10;

/**
 * The query parameters and fields of one request that nothing reads. They are most likely misspelled,
 * and then the request does something else than its sender believes (decision 042).
 */
export class UnknownNames {
  readonly #isStrict: boolean;
  readonly #found: string[] = [];

  /** `isStrict`: whether such a request is refused. */
  constructor(isStrict: boolean) {
    this.#isStrict = isStrict;
  }

  /** Compares names with those that are known. Throws a `Failure` 400 for the first unknown one. */
  check(kind: "field" | "query parameter", names: Iterable<string>, known: readonly string[]) {
    for (const name of names) {
      if (known.includes(name) || this.#found.length === NAMES_MAX) continue;
      const text = unknownName(kind, name, known);
      if (this.#isStrict) throw Failure.plain(400, `Cannot accept the request: ${text}`);
      this.#found.push(text);
    }
  }

  /** Warns the caller and the log of unknown names, whatever the answer is. */
  tell(response: Response, dialects: readonly Dialect[], log: Log): void {
    if (this.#found.length === 0) return;
    const text = this.#found.join("; ");
    for (const dialect of dialects) response.headers.append(header(dialect, "warning"), text);
    log("warn", "A name in an admin request is unknown and ignored", { warning: text });
  }
}
