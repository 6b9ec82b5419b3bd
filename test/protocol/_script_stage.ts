import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { until } from "../support/child.ts";
import type { Attempt } from "./_script_attempt.ts";
import { type Play, Script, type ScriptOptions } from "./_script.ts";
import { isDifference } from "./_differences.ts";
import { startTarget, type Target, type TargetOptions } from "./_target.ts";

/** A server for all tests of a file, and endpoints that live for one test. */
export interface Stage {
  readonly target: () => Target;
  /** A listening endpoint, not yet registered. */
  prepare(options: ScriptOptions, ...plays: readonly Play[]): Promise<Script>;
  /** A registered one. */
  play(options: ScriptOptions, ...plays: readonly Play[]): Promise<Script>;
}

/** Call once in a file, at its top. */
export function stage(options: TargetOptions = {}): Stage {
  let target: Target | undefined;
  const scripts: Script[] = [];
  const running = () => {
    if (!target) throw new Error("The server was not started");
    return target;
  };
  beforeAll(async () => {
    target = await startTarget(options);
  }, 60_000);
  afterEach(async ({ task }) => {
    for (const script of scripts.splice(0)) await script.close();
    if (task.result?.state !== "fail") return;
    console.error(`${task.name}: the server said\n${running().logs().slice(-6000)}`);
  });
  afterAll(async () => {
    await target?.close();
  });
  const prepare: Stage["prepare"] = async (options, ...plays) => {
    const script = new Script(running(), options, plays);
    scripts.push(script);
    await script.start();
    return script;
  };
  const play: Stage["play"] = async (options, ...plays) => {
    const script = await prepare(options, ...plays);
    const { status, text } = await script.register();
    if (status !== 201) throw new Error(`Registration answered ${status}: ${text}`);
    return script;
  };
  return { target: running, prepare, play };
}

/**
 * A test of a line of the checklist (docs/spec/service-protocol.md#checklist). Its name begins with
 * the line's number, and a letter when a line has several. What the reference is known to break is
 * skipped there.
 */
export function line(name: string, check: () => Promise<void>): void {
  test.skipIf(isDifference(name))(name, check, 20_000);
}

/** Waits for the `count`-th attempt of a script. */
export async function attempt(script: Script, count: number): Promise<Attempt> {
  await Promise.race([
    until(`attempt ${count}`, () => script.attempts.length >= count),
    script.broken,
  ]);
  const one = script.attempts[count - 1];
  if (!one) throw new Error(`There is no attempt ${count}`);
  return one;
}

/** Checks what is recorded of the last failed attempt, of a server that tells. */
export async function recorded(script: Script, id: string, code: string): Promise<void> {
  const found = await script.failureCode(id);
  if (found !== undefined) expect(found).toBe(code);
}

/** Milliseconds between the starts of subsequent attempts. */
export function gaps(script: Script): number[] {
  const times = script.attempts.map((one) => one.startedAt);
  return times.slice(1).map((at, i) => at - (times[i] ?? 0));
}

/** Checks that something stays as it is for a while: what does not happen has no event. */
export async function stays(what: string, check: () => boolean, forMs: number): Promise<void> {
  const end = Date.now() + forMs;
  while (Date.now() < end) {
    if (!check()) throw new Error(`It changed within ${forMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
