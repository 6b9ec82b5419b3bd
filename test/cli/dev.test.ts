import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Child, freePorts, until } from "../support/child.ts";
import { perdure, program } from "./_cli.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(tmpdir(), "dev-"));
const file = path.join(folder, "greeter.mjs");
/** Of the endpoint that was started last. */
const pidFile = path.join(folder, "pid");
let [ingress, admin, port] = [0, 0, 0];
let dev: Child;

const write = (greeting: string) => {
  writeFileSync(
    file,
    `// The SDK needs it and Node 20 lacks it.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};
const { writeFileSync } = await import("node:fs");
writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
const { object, serve, service } = await import("@restatedev/restate-sdk");
serve({ services: [
  service({ name: "Greeter", handlers: { greet: async (_, name) => "${greeting} " + name } }),
  object({ name: "Counter", handlers: { add: async (ctx) => "${greeting} " + ctx.key } }),
] });
`,
  );
};

const events = () =>
  dev.output().split("\n").flatMap((line) => {
    if (!line.startsWith(`{"event"`)) return [];
    return [JSON.parse(line) as { event: string; calls?: string[]; message?: string }];
  });
const registrations = () => events().filter(({ event }) => event === "registered");

beforeAll(async () => {
  [ingress = 0, admin = 0, port = 0] = await freePorts(3);
  symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
  write("Hello");
  const settings = ["--base-dir", path.join(folder, "svc-data")].concat(
    ["--ingress.bind-port", `${ingress}`, "--admin.bind-port", `${admin}`],
  );
  const args = ["dev", file, "--port", `${port}`, "--json", "--", ...settings];
  dev = new Child([process.execPath, program(), ...args]);
  const isRegistered = () => !dev.isAlive() || registrations().length === 1;
  await until("the registration", isRegistered, 20_000)
    .catch((cause) => {
      throw new Error(`${cause.message}: ${dev.output()}`);
    });
  if (!dev.isAlive()) throw new Error(dev.output());
}, 30_000);

afterAll(async () => {
  await dev?.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

test("it says where the UI is, and the calls that it prints work", async () => {
  expect(events()[0]).toMatchObject({ event: "ready", ui: `http://127.0.0.1:${admin}/ui/` });
  expect((await fetch(`http://127.0.0.1:${admin}/ui/`)).status).toBe(200);
  const answers = registrations()[0]!.calls!.map((line) =>
    execFileSync("bash", ["-c", `${line} --silent --fail`], { encoding: "utf8" })
  );
  expect(answers.toSorted()).toEqual([`"Hello ada"`, `"Hello world"`]);
});

test("a change is registered; a broken one is reported, and the next one mends it", async () => {
  write("Good day");
  await until("the second registration", () => registrations().length === 2, 20_000);
  const env = { PERDURE_INGRESS: `http://127.0.0.1:${ingress}` };
  const answer = await perdure(["call", "Greeter/greet", '"Ada"'], { env });
  expect(answer).toEqual({ code: 0, out: `"Good day Ada"\n`, said: "" });
  writeFileSync(file, "throw new Error('broken by a test');\n");
  await until("the failure", () => events().some(({ event }) => event === "failed"), 20_000);
  write("Hi");
  await until("the third registration", () => registrations().length === 3, 20_000);
}, 60_000);

test("a port that is in use is refused before anything starts", async () => {
  const { code, said, out } = await perdure(["dev", file, "--port", `${admin}`]);
  expect([code, out]).toEqual([1, ""]);
  expect(said).toContain(`port ${admin} is in use`);
});

const isUp = (at: number) => fetch(`http://127.0.0.1:${at}/`).then(() => true, () => false);

test("a signal ends all three, and the server also ends when it is killed", async () => {
  expect(await dev.stop("SIGTERM")).toBe(0);
  expect([await isUp(admin), await isUp(port)]).toEqual([false, false]);
  const settings = ["--base-dir", path.join(folder, "other"), "--admin.bind-port", `${admin}`];
  const args = ["dev", file, "--port", `${port}`, "--json", "--", ...settings];
  dev = new Child([process.execPath, program(), ...args, "--ingress.bind-port", `${ingress}`]);
  await until("the registration", () => registrations().length === 1, 20_000);
  dev.signal("SIGKILL");
  await until("the server to be gone", async () => !await isUp(admin), 20_000);
  // Nothing tells an endpoint that it is alone.
  process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
  await dev.ended();
}, 60_000);
