import { Failure } from "../errors.ts";
import { envNames, OWN } from "../names.ts";
import { noSuch, unknownName } from "../nearest.ts";
import type { Given, Option, Options, Source } from "./option.ts";
import { parseToml } from "./toml.ts";
import { hasUrlCredentials } from "./url_credentials.ts";

/** Environment variables, as a platform has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

const SHOWN_MAX = 80;
/** As package.json names it. */
const PACKAGE = "perdure";

/**
 * Values of a config file (docs/spec/runtimes.md#sources-of-settings). Underscores may stand for
 * dashes. Throws `Failure` RT0002, also for unknown keys.
 */
export function readFile(options: Options, text: string): Source {
  const source = new Map<string, Given>();
  for (const { key, value, line } of parseToml(text)) {
    const place = () => `key "${key}" in line ${line()} of the config file`;
    const path = key.replaceAll("_", "-");
    if (!Object.hasOwn(options, path)) {
      const why = noSuch(key, Object.keys(options));
      throw new Failure("RT0002", `Cannot read ${place()}: ${why}`);
    }
    if (source.has(path)) {
      throw new Failure("RT0002", `Cannot read ${place()}: it is given twice`);
    }
    source.set(path, { value, place });
  }
  return source;
}

/** Values of the environment. Unknown names are passed over: `unknownVariables` names them. */
export function readEnvironment(options: Options, env: Environment): Source {
  const source = new Map<string, Given>();
  for (const [path, { env: others }] of Object.entries(options)) {
    const name = [...envNames(path), ...others].find((name) => env[name] !== undefined);
    if (name !== undefined) source.set(path, { value: env[name], place: () => name });
  }
  return source;
}

/**
 * Sentences about variables that are spelled as settings of ours and set nothing. Names of the alias
 * are passed over: other programs have settings of that spelling. `others`: paths that are read
 * elsewhere.
 */
export function unknownVariables(
  options: Options,
  env: Environment,
  others: readonly string[],
): string[] {
  const prefix = `${OWN.toUpperCase()}_`;
  const own = [...Object.keys(options), ...others].flatMap((path) => envNames(path).slice(0, 1));
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !own.includes(name))
    .map((name) => unknownName("environment variable", name, own));
}

/**
 * Sentences about flags of `paths` that npm kept: what is not behind `--` it takes as its own, and
 * shows to the script `start` of our package as a variable. A shell may drop such a variable when
 * its name has a dot, so flags of sections are not always seen.
 */
export function flagsOfNpm(env: Environment, paths: readonly string[]): string[] {
  if (env["npm_package_name"] !== PACKAGE || env["npm_lifecycle_event"] !== "start") return [];
  return paths
    .filter((path) => env[`npm_config_${path.replaceAll("-", "_")}`] !== undefined)
    .map((path) =>
      `npm took '--${path}' for itself, so give it behind '--': npm start -- --${path}`
    );
}

/** One value per option: from the first source that has it, else its default. Throws RT0002. */
export function resolveSettings(
  options: Options,
  sources: readonly Source[],
): Record<string, unknown> {
  const settled: Record<string, unknown> = {};
  for (const [path, option] of Object.entries(options)) {
    const given = sources.find((source) => source.has(path))?.get(path);
    settled[path] = given ? accept(option, given) : option.fallback;
  }
  return settled;
}

function accept({ kind, ...option }: Option, { value, place }: Given): unknown {
  const read = kind.read(value);
  if (read !== undefined) return read;
  const secret = option.secret || hasUrlCredentials(String(value));
  const why = secret ? undefined : kind.why?.(value);
  if (why !== undefined) throw new Failure("RT0002", `Cannot read ${place()}: ${why}`);
  const typed = secret ? "the value" : shown(value);
  throw new Failure("RT0002", `Cannot read ${place()}: ${typed} is not ${kind.expected}`);
}

function shown(value: unknown): string {
  const text = typeof value === "number" ? String(value) : JSON.stringify(value);
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}
