import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Config,
  describeConfig,
  dumpConfig,
  helpText,
  options,
  readCommand,
  readConfig,
  warningsOf,
} from "../../src/config.ts";
import { envNames } from "../../src/names.ts";

const paths = Object.keys(options) as (keyof Config)[];

/** The message of the failure that reading ends with. */
function refusal(sources: Parameters<typeof readConfig>[0]): string {
  let message = "nothing was refused";
  expect(() => {
    try {
      readConfig(sources);
    } catch (cause) {
      message = (cause as Error).message;
      throw cause;
    }
  }).toThrow(expect.objectContaining({ name: "Failure", code: "RT0002" }));
  return message;
}

describe("where settings come from", () => {
  test("without any source every option has its default", () => {
    const config = readConfig({});
    expect(config["ingress.bind-port"]).toBe(8080);
    expect(config["worker.invoker.abort-timeout"]).toBe(600_000);
    expect(config["worker.invoker.message-size-limit"]).toBe(32 * 1024 * 1024);
    expect(config["default-retry-policy.exponentiation-factor"]).toBe(2);
    expect(config["default-retry-policy.on-max-attempts"]).toBe("pause");
    expect(config["ingress.concurrent-api-requests-limit"]).toBe(Infinity);
    expect(config["default-journal-retention"]).toBe(86_400_000);
    expect(config["storage.synchronous"]).toBe("full");
  });

  test("flags win over the environment, that over the file, that over defaults", () => {
    const file = "[admin]\nbind-port = 1\n[ingress]\nbind-port = 1\n[partition]\ntimers-max = 1\n";
    const env = { SVC_ADMIN__BIND_PORT: "2", SVC_INGRESS__BIND_PORT: "2" };
    const config = readConfig({ file, env, args: ["--admin.bind-port=3"] });
    expect(config["admin.bind-port"]).toBe(3);
    expect(config["ingress.bind-port"]).toBe(2);
    expect(config["partition.timers-max"]).toBe(1);
    expect(config["partition.turn-events-max"]).toBe(1000);
  });

  test("a file may write underscores for dashes, as the specification does in places", () => {
    const file = "[worker.invoker]\nmessage_size_limit = '1MB'\nabort_timeout = '1m'\n";
    const config = readConfig({ file });
    expect(config["worker.invoker.message-size-limit"]).toBe(1_000_000);
    expect(config["worker.invoker.abort-timeout"]).toBe(60_000);
    expect(refusal({ file: `${file}abort-timeout = '2m'\n` })).toBe(
      '[RT0002] Cannot read key "worker.invoker.abort-timeout" in line 4 of the config file: ' +
        "it is given twice",
    );
  });

  test("the environment is read in our spelling, then the alias, then common names", () => {
    const env = { INGRESS_PORT: "1", DATA_DIR: "there", RESTATE_ADMIN__BIND_PORT: "3" };
    const config = readConfig({ env });
    expect(config["ingress.bind-port"]).toBe(1);
    expect(config["admin.bind-port"]).toBe(3);
    expect(config["base-dir"]).toBe("there");
    const both = { ...env, SVC_ADMIN__BIND_PORT: "4", RESTATE_INGRESS__BIND_PORT: "5" };
    expect(readConfig({ env: both })["admin.bind-port"]).toBe(4);
    expect(readConfig({ env: both })["ingress.bind-port"]).toBe(5);
  });

  test("unknown names in the environment belong to other programs", () => {
    expect(readConfig({ env: { SVC_NO_SUCH: "x", PATH: "/" } })).toEqual(readConfig({}));
  });

  test("every option can be set in each source", () => {
    const printed = (path: keyof Config) => {
      const { kind, fallback } = options[path];
      return (kind as { print(value: unknown): string }).print(fallback);
    };
    const env = Object.fromEntries(paths.map((path) => [envNames(path)[0], printed(path)]));
    const flags = paths.filter((path) => options[path].isFlag);
    const args = flags.map((path) => `--${path}=${printed(path)}`);
    const file = dumpConfig(readConfig({}));
    for (const sources of [{ env }, { args }, { file }]) {
      expect(readConfig(sources)).toEqual(readConfig({}));
    }
  });

  test("a dumped configuration reads as it was", () => {
    const property = fc.property(
      fc.record({
        "base-dir": fc.string({ minLength: 1, unit: "grapheme" }),
        "default-journal-retention": fc.nat(1e12),
        "storage.fold-bytes": fc.integer({ min: 1, max: 2 ** 40 }),
        "partition.timers-max": fc.integer({ min: 1 }),
        "default-retry-policy.exponentiation-factor": fc.integer({ min: 4, max: 40 })
          .map((quarters) => quarters / 4),
        "ingress.concurrent-api-requests-limit": fc.constantFrom(Infinity, 1, 99),
      }),
      (some) => {
        const config = { ...readConfig({}), ...some };
        expect(readConfig({ file: dumpConfig(config) })).toEqual(config);
      },
    );
    const separators = { "base-dir": "a\u2028b\u2029" } as Config;
    fc.assert(property, { examples: [[separators]] });
  });
});

describe("what cannot be read", () => {
  test("a bad value in the environment names the variable, in the spelling used", () => {
    expect(refusal({ env: { SVC_INGRESS__BIND_PORT: "x" } })).toBe(
      `[RT0002] Cannot read SVC_INGRESS__BIND_PORT: "x" is not a whole number from 0 to 65535`,
    );
    expect(refusal({ env: { RESTATE_BASE_DIR: "" } })).toBe(
      `[RT0002] Cannot read RESTATE_BASE_DIR: "" is not a path`,
    );
  });

  test("a bad value in a file names key and line", () => {
    const file = `# timeouts\n[worker.invoker]\n\nabort-timeout = 500 # of what?\n`;
    expect(refusal({ file })).toBe(
      `[RT0002] Cannot read key "worker.invoker.abort-timeout" in line 4 of the config file: ` +
        `500 is not a duration, such as "10s" or "1h 30m"`,
    );
  });

  test("a config file is all of TOML, and what is no value of a setting is refused with its line", () => {
    const file =
      `worker = { invoker = { abort-timeout = "2m" } }\n"log-format" = \'\'\'\npretty\'\'\'`;
    expect(readConfig({ file })).toMatchObject({
      "worker.invoker.abort-timeout": 120_000,
      "log-format": "pretty",
    });
    for (const value of ["2026-11-22", "inf", "nan", '[["a"]]', "{ a = 1 }"]) {
      const refused = () => readConfig({ file: `\ndefault-num-partitions = ${value}` });
      expect(refused, value).toThrow(/Cannot read key "default-num-partitions.*" in line 2 /);
    }
    expect(() => readConfig({ file: "default-retry-policy.exponentiation-factor = inf" }))
      .toThrow("Infinity is not a number from 1");
  });

  test("a bad value on a flag names the flag", () => {
    expect(refusal({ args: ["--storage.synchronous", "maybe"] })).toBe(
      `[RT0002] Cannot read --storage.synchronous: "maybe" is not one of "full", "normal"`,
    );
  });

  test.each([
    ["ingress.bind-port", ["65536", "-1", "8080.5", ""]],
    ["worker.cleanup-interval", ["10", "0", "1month", "-5s", "soon", "999999999d"]],
    ["ingress.request-size-limit", ["0", "1.5B", "32 parsecs", "-1MiB"]],
    ["default-retry-policy.max-attempts", ["0", "many", "Infinity"]],
    ["default-retry-policy.exponentiation-factor", ["0.5", "two", "NaN"]],
    ["log-level", ["loud", "INFO"]],
    ["cluster-name", ["", "two words", "Köln", "a\r\nx: y"]],
  ])("%s refuses %j", (path, values) => {
    for (const value of values) {
      expect(refusal({ args: [`--${path}=${value}`] })).toContain(`--${path}`);
    }
  });

  test.each(["http://[?key=hush", "http://me:hush@[", " https://hush@[/ "])(
    "a URL that may hold credentials is not quoted: %s",
    (value) => {
      const said = refusal({ args: ["--tracing-endpoint", value] });
      expect(said).toMatch(/--tracing-endpoint: the value is not an http or https URL/);
      expect(said).not.toContain("hush");
    },
  );

  test("a URL with a user or a query is not dumped, and others are", () => {
    const dumped = (url: string) => dumpConfig(readConfig({ env: { SVC_AUTH__JWT__KEYS: url } }));
    expect(dumped("http://issuer/keys")).toContain(`keys = "http://issuer/keys"`);
    for (
      const url of ["http://c/?key=hush", "http://hush@c/", "http://u:hush@c/", "http://c?hush"]
    ) {
      expect(dumped(url)).toContain("# keys = (hidden)");
      expect(dumped(url)).not.toContain("hush");
    }
  });

  test("a long value is cut", () => {
    expect(refusal({ args: ["--log-level", "x".repeat(1_000)] }).length).toBeLessThan(200);
  });

  test("an unknown key of a file is refused with what was probably meant", () => {
    const file = "[worker.invoker]\nabort-timout = '1m'\n";
    expect(refusal({ file })).toBe(
      `[RT0002] Cannot read key "worker.invoker.abort-timout" in line 2 of the config file: ` +
        `no such option, did you mean "worker.invoker.abort-timeout"`,
    );
    expect(refusal({ file: "constructor = 1" })).toContain("no such option");
    expect(refusal({ file: "abort-timeout = '1m'" })).toContain(
      `did you mean "worker.invoker.abort-timeout"`,
    );
    expect(refusal({ file: "[zebra]\ncrossing = 1" })).toMatch(/no such option$/);
  });

  test("an unknown flag is refused with what was probably meant", () => {
    expect(refusal({ args: ["--bind-port=1"] })).toContain(
      `did you mean "--ingress.bind-port" or "--admin.bind-port"`,
    );
    expect(refusal({ args: ["--basedir", "x"] })).toContain(`did you mean "--base-dir"`);
    expect(refusal({ args: ["--hepl"] })).toContain(`did you mean "--help"`);
    expect(refusal({ args: ["serve"] })).toContain(`argument "serve"`);
  });

  test("a value whose flag npm kept is refused, and how to give it to npm is said", () => {
    expect(refusal({ args: ["debug"] })).toMatch(/"debug": expected a flag.*npm start -- --flag/);
  });

  test("a flag without its value is refused", () => {
    expect(refusal({ args: ["--base-dir"] })).toContain("a value must follow");
    expect(refusal({ args: ["--base-dir", "--help"] })).toContain("a value must follow");
    expect(refusal({ args: ["--help=yes"] })).toContain("it takes no value");
  });
});

describe("what a command line asks for", () => {
  test.each([
    [[], "serve"],
    [["-h"], "help"],
    [["--help"], "help"],
    [["-V"], "version"],
    [["--base-dir", "x", "--dump-config"], "dumpConfig"],
  ])("%j means %s", (args, action) => {
    expect(readCommand({ args }).action).toBe(action);
  });

  test("the config file is named by a flag, else by the environment", () => {
    const env = { SVC_CONFIG: "one.toml", RESTATE_CONFIG: "two.toml" };
    expect(readCommand({ env, args: ["-c", "three.toml"] }).configFile).toBe("three.toml");
    expect(readCommand({ env, args: ["--config-file=x.toml"] }).configFile).toBe("x.toml");
    expect(readCommand({ env }).configFile).toBe("one.toml");
    expect(readCommand({ env: { RESTATE_CONFIG: "two.toml" } }).configFile).toBe("two.toml");
    expect(readCommand({})).toEqual({ action: "serve", acceptLoss: false });
  });

  test("loss is accepted by a flag alone, never by a setting", () => {
    expect(readCommand({ args: ["--accept-loss", "--log-level=info"] }))
      .toEqual({ action: "serve", acceptLoss: true });
    expect(() => readCommand({ args: ["--accept-loss=yes"] })).toThrow(/it takes no value/);
    expect(() => readConfig({ file: "accept-loss = true" })).toThrow(/accept-loss/);
  });

  test("help and documentation name every option", () => {
    for (const path of paths) {
      expect(helpText()).toContain(
        options[path].isFlag ? `  --${path} ` : `  ${path} (not a flag)`,
      );
      expect(describeConfig()).toContain(`| \`${path}\` |`);
    }
  });
});

test("variables that are spelled as settings and set nothing are named, with what was meant", () => {
  const env = {
    SVC_LOG_LEVL: "debug",
    SVC_INGRESS_BIND_PORT: "1",
    SVC_LOG_LEVEL: "info",
    SVC_CONFIG: "a.toml",
    RESTATE_ADMIN_URL: "http://x",
    PATH: "/bin",
  };
  expect(warningsOf(env)).toEqual([
    "unknown environment variable 'SVC_LOG_LEVL', did you mean 'SVC_LOG_LEVEL'?",
    "unknown environment variable 'SVC_INGRESS_BIND_PORT', did you mean 'SVC_INGRESS__BIND_PORT'?",
  ]);
  expect(warningsOf({ SVC_ADMIN__PATH_PREFIX: "/a" })).toHaveLength(1);
  expect(warningsOf({ SVC_ADMIN__PATH_PREFIX: "/a" }, ["admin.path-prefix"])).toEqual([]);
});
