import type { HeaderPair } from "../model/journal.ts";
import type { HandlerSchema, ServiceSchema } from "../model/schema.ts";

/** What a handler gets for a value that is not journaled. */
export const REDACTED_VALUE = "***";

/** The metadata by which a service or handler asks for headers: their names, with commas between them. */
const ASKED = "ingress-headers";

export interface HeaderRules {
  /** Names of headers, in any case; with `*` at the end all that begin so. */
  readonly drop: readonly string[];
  readonly redact: readonly string[];
}

/** The handler of a request, and the metadata of its service. */
interface Asker {
  readonly metadata: ServiceSchema["metadata"] | undefined;
  readonly handler: Pick<HandlerSchema, "metadata">;
}

/** Which headers of a request are journaled (docs/security.md#headers). */
export class HeaderPolicy {
  readonly #drops: (name: string) => boolean;
  readonly #redacts: (name: string) => boolean;

  constructor({ drop, redact }: HeaderRules) {
    this.#drops = matcher(drop);
    this.#redacts = matcher(redact);
  }

  /**
   * The headers of a request as they are journaled, and as the handler gets them. The first one, which
   * ingress sets itself, stays. The same list, if nothing matches.
   */
  apply(pairs: HeaderPair[], { handler, metadata }: Asker): HeaderPair[] {
    let isTouched = false;
    for (let i = 1; i < pairs.length && !isTouched; i++) {
      const name = pairs[i]![0];
      isTouched = this.#drops(name) || this.#redacts(name);
    }
    if (!isTouched) return pairs;
    const asked = matcher([...namesIn(metadata?.[ASKED]), ...namesIn(handler.metadata?.[ASKED])]);
    return pairs.flatMap(([name, value], at): HeaderPair[] => {
      if (at === 0) return [[name, value]];
      if (this.#drops(name)) return [];
      return [[name, this.#redacts(name) && !asked(name) ? REDACTED_VALUE : value]];
    });
  }
}

function namesIn(list: string | undefined): string[] {
  return (list ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
}

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const lower = patterns.map((one) => one.toLowerCase());
  const names = new Set(lower.filter((one) => !one.endsWith("*")));
  const starts = lower.filter((one) => one.endsWith("*")).map((one) => one.slice(0, -1));
  return (name) => names.has(name) || starts.some((start) => name.startsWith(start));
}
