import { assert } from "../assert.ts";
import type { Kind } from "./kinds.ts";

/** One setting: what it accepts, its default, and the reason to set it. */
export interface Option<T = unknown> {
  readonly kind: Kind<T>;
  readonly fallback: T;
  /** One sentence for docs/settings.md and `--help`: what it does, and what happens at the limit. */
  readonly doc: string;
  /** Its value is never printed, not even when it is wrong. */
  readonly secret: boolean;
  /** Whether a command line may give it: other users of a machine can read command lines. */
  readonly isFlag: boolean;
  /** Further environment names, read after our own two. */
  readonly env: readonly string[];
}

/** Path (`worker.invoker.abort-timeout`) to option, in the order of the documentation. */
export type Options = Readonly<Record<string, Option>>;

/** Describes one option. `fallback` is spelled as a person would type it. Throws `Bug` on a typo. */
export function option<T>(
  kind: Kind<T>,
  fallback: string,
  about: Pick<Option, "doc"> & Partial<Pick<Option, "secret" | "isFlag" | "env">>,
): Option<T> {
  const value = kind.read(fallback);
  assert(value !== undefined, `The default "${fallback}" must be ${kind.expected}`);
  return { secret: false, isFlag: true, env: [], ...about, kind, fallback: value };
}

/** A value that was given, and the name of the place where it was given. */
export interface Given {
  readonly value: unknown;
  /** `SVC_BASE_DIR`, `--base-dir` or `key "base-dir" in line 3 of the config file`: for messages. */
  readonly place: () => string;
}

/** Values given in one source, by option path. */
export type Source = ReadonlyMap<string, Given>;
