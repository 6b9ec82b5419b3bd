import { expect, test } from "vitest";
import { sidecarSettings } from "../../src/admin/settings.ts";
import { dumpConfig, readConfig } from "../../src/config.ts";

const TOKEN = "0123456789abcdef";

test("a token is a secret of at least 16 visible characters", () => {
  const config = readConfig({ env: { SVC_KAFKA__TOKEN: TOKEN } });
  expect(config["kafka.token"]).toBe(TOKEN);
  expect(dumpConfig(config)).not.toContain(TOKEN);
  expect(readConfig({})["kafka.token"]).toBe("");
  for (const odd of ["too-short", `${TOKEN} `, `${TOKEN}é`]) {
    const read = () => readConfig({ env: { SVC_KAFKA__TOKEN: odd } });
    expect(read, odd).toThrow("RT0002");
    expect(read, odd).not.toThrow(odd);
  }
});

test("records may set scopes where both experiments are on", () => {
  const isScopeRead = (kafka: string, queues: string) =>
    sidecarSettings(readConfig({
      env: {
        SVC_EXPERIMENTAL_ENABLE_KAFKA_SCOPE: kafka,
        SVC_EXPERIMENTAL_ENABLE_VQUEUES: queues,
      },
    })).isScopeRead;
  expect(isScopeRead("true", "true")).toBe(true);
  expect(isScopeRead("true", "false")).toBe(false);
  expect(isScopeRead("false", "true")).toBe(false);
});

test("records are as large as bodies of callers", () => {
  const config = readConfig({ env: { SVC_INGRESS__REQUEST_SIZE_LIMIT: "1MiB" } });
  expect(sidecarSettings(config)).toMatchObject({ valueBytesMax: 1024 * 1024, token: "" });
});
