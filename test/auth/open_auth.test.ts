import { expect, test, vi } from "vitest";
import { checkExposure, isLoopback } from "../../src/auth/exposure.ts";
import { openAuth } from "../../src/auth/open_auth.ts";
import { authSettings } from "../../src/auth/settings.ts";
import { digestOf } from "../../src/auth/token_list.ts";
import { readConfig } from "../../src/config.ts";
import { dialer } from "../outbound/_talk.ts";

const configOf = (env: Record<string, string>) => readConfig({ env });

function deps(readTextFile?: (path: string) => Promise<string>) {
  const alarms: (() => void)[] = [], logged: string[] = [];
  const clock = {
    now: () => 1_000,
    at: (_due: number, call: () => void) => {
      alarms.push(call);
      return () => void alarms.splice(alarms.indexOf(call), 1);
    },
    soon: (call: () => void) => queueMicrotask(call),
  };
  const log = (level: string, message: string, fields?: unknown) =>
    void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
  return { clock, log, random, alarms, logged, readTextFile, dial: dialer() };
}

const open = (env: Record<string, string>, given = deps()) =>
  openAuth(authSettings(configOf(env)), given);

test("without a token in the settings none is asked for", async () => {
  expect(await open({})).toBeUndefined();
});

test.each([
  [{ SVC_ADMIN__TOKEN: "a" }, true, false],
  [{ SVC_INGRESS__TOKEN: "a" }, false, true],
  [{ SVC_AUTH__TOKENS: "" + "# none yet" }, true, true],
  [{ SVC_AUTH__JWT__ISSUER: "i", SVC_AUTH__JWT__KEYS: "https://i.example/keys" }, true, true],
])("%j closes admin: %j, ingress: %j", async (env, admin, ingress) => {
  const auth = await open(env);
  expect([auth?.admin !== undefined, auth?.ingress !== undefined]).toEqual([admin, ingress]);
});

test("the token of operators may do everything, that of callers call", async () => {
  const auth = await open({ SVC_ADMIN__TOKEN: "op", SVC_INGRESS__TOKEN: "caller" });
  expect(await auth!.ingress!.identify("Bearer op")).toMatchObject({ level: "admin" });
  const caller = await auth!.admin!.identify("Bearer caller");
  expect(caller).toMatchObject({ name: "ingress.token", level: "none", handlers: [{}] });
  const same = await open({ SVC_ADMIN__TOKEN: "same", SVC_INGRESS__TOKEN: "same" });
  expect(await same!.admin!.identify("Bearer same")).toMatchObject({ level: "admin" });
});

test("a file of tokens is read again, and a bad one changes nothing", async () => {
  let text = `ci ${await digestOf("old")} viewer`;
  const given = deps(() => Promise.resolve(text));
  const auth = await open({ SVC_AUTH__TOKENS_FILE: "tokens", SVC_ADMIN__TOKEN: "op" }, given);
  expect(await auth!.admin!.identify("Bearer old")).toMatchObject({ name: "ci" });
  text = "ci broken-secret viewer";
  given.alarms.pop()!();
  await vi.waitFor(() => expect(given.logged.join()).toContain("the old one stays in use"));
  expect(given.logged.join()).not.toContain("broken-secret");
  expect(await auth!.admin!.identify("Bearer old")).toMatchObject({ name: "ci" });
  text = `ci ${await digestOf("new")} viewer`;
  await vi.waitFor(() => expect(given.alarms).toHaveLength(1));
  given.alarms.pop()!();
  await vi.waitFor(() => expect(given.logged.join()).toContain("was read again"));
  expect(await auth!.admin!.identify("Bearer new")).toMatchObject({ name: "ci" });
  await expect(auth!.admin!.identify("Bearer old")).rejects.toMatchObject({ status: 401 });
  expect(await auth!.admin!.identify("Bearer op")).toMatchObject({ level: "admin" });
  await vi.waitFor(() => expect(given.alarms).toHaveLength(1));
  auth!.close();
  expect(given.alarms).toHaveLength(0);
});

test("settings that cannot be read are refused by name, and quote no token", async () => {
  await expect(open({ SVC_AUTH__TOKENS: "ci secret viewer" }))
    .rejects.toThrow(/^\[RT0002\] Cannot read "auth\.tokens": line 1: .*SHA-256/);
  await expect(open({ SVC_AUTH__TOKENS: "ci secret viewer" })).rejects.not.toThrow(/secret/);
  await expect(open({ SVC_AUTH__TOKENS_FILE: "tokens" })).rejects.toThrow(/no files/);
  const gone = deps(() => Promise.reject(new Error("ENOENT: no such file")));
  await expect(open({ SVC_AUTH__TOKENS_FILE: "tokens" }, gone))
    .rejects.toThrow(/RT0002.*auth\.tokens-file.*ENOENT/);
});

const ours = () => true;
const exposed = (env: Record<string, string>, isOurs = ours) => () =>
  checkExposure(configOf(env), isOurs);

test("a port beyond this machine needs a token, or a setting that says it does not", () => {
  const beyond = { SVC_ADMIN__BIND_ADDRESS: "0.0.0.0" };
  expect(exposed(beyond)).toThrow(
    /RT0002.*admin\.bind-address "0\.0\.0\.0".*admin\.token.*auth\.tokens-file.*auth\.mode.*none/,
  );
  expect(exposed({ SVC_INGRESS__BIND_ADDRESS: "::" })).toThrow(/ingress\.bind-address "::"/);
  expect(exposed({ ...beyond, SVC_INGRESS__TOKEN: "a" })).toThrow(/admin\.bind-address/);
  expect(exposed({ ...beyond, SVC_ADMIN__TOKEN: "a" })).not.toThrow();
  expect(exposed({ ...beyond, SVC_AUTH__TOKENS_FILE: "tokens" })).not.toThrow();
  expect(exposed({ ...beyond, SVC_AUTH__MODE: "none" })).not.toThrow();
  // Asked of settings that have the token already.
  expect(exposed({ ...beyond, SVC_AUTH__MODE: "generate" })).toThrow(/RT0002.*admin\.token/);
  expect(exposed(beyond, () => false)).not.toThrow();
  expect(exposed({})).not.toThrow();
});

test.each([
  ["127.0.0.1", true],
  ["127.1.2.3", true],
  ["localhost", true],
  ["a.localhost", true],
  ["::1", true],
  ["[::1]", true],
  ["0.0.0.0", false],
  ["::", false],
  ["10.0.0.1", false],
  ["localhost.example.com", false],
  ["127.0.0.1.example.com", false],
])("%s is this machine alone: %j", (host, expected) => expect(isLoopback(host)).toBe(expected));
