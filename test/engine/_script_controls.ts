import type {
  Controls,
  Limits,
  Rule,
  ServiceControl,
  SharedLimits,
} from "../../src/model/limits.ts";
import { RuleBook } from "../../src/model/limits.ts";
import { printQueueId } from "../../src/model/queue.ts";

/**
 * What an operator has set, after a line of a script. Undefined: the line is about something else.
 *   limit blue/* 1 · limit blue 3/1000 (a rate) · limit blue off
 *   limit service:greeter 2 · limit handler:greeter/hi 1
 *   limit service:greeter 2@5 · limit service:greeter 1@5,9 (limited at 5, tightened at 9)
 *   subscription max.attempts=2 on.poison=skip (the options of `sub_1`)
 *   hold service greeter · hold deployment dp_1 · hold queue greeter:blue:key · release … the same
 */
export function controlsAfter(
  controls: Controls,
  [verb, what = "", value = "", ...more]: readonly string[],
): Controls | undefined {
  switch (verb) {
    case "limit":
      return limited(controls, what, limitsOf(value));
    case "subscription":
      return subscribed(controls, [what, value, ...more]);
    case "hold":
    case "release":
      return held(controls, what, { name: value, isHeld: verb === "hold" });
    default:
      return undefined;
  }
}

/** `2`, `2@5`, `1@5,9`, `3/1000`, `off`. */
function limitsOf(text: string): SharedLimits | undefined {
  if (text === "off") return undefined;
  const [limit = "", times] = text.split("@");
  const [limitedAt, tightenedAt = limitedAt] = times?.split(",").map(Number) ?? [];
  const [count = "", periodMs] = limit.split("/");
  const limits: Limits = periodMs === undefined
    ? { concurrency: Number(count) }
    : { rate: { count: Number(count), periodMs: Number(periodMs) } };
  if (limitedAt === undefined || tightenedAt === undefined) return limits;
  return { ...limits, limitedAt, tightenedAt };
}

function limited(controls: Controls, what: string, limits: SharedLimits | undefined): Controls {
  const [kind, name = ""] = what.split(":");
  if (kind === "service") return withService(controls, name, { limits });
  if (kind === "handler") {
    const [service = "", handler = ""] = name.split("/");
    return withService(controls, service, { handlers: limits && { [handler]: limits } });
  }
  const { rules, version } = controls.rules;
  const others = rules.filter(({ pattern }) => pattern !== what);
  const rule: Rule[] = limits
    ? [{ pattern: what, limits, disabled: false, version: 1, modifiedAt: 0 }]
    : [];
  return { ...controls, rules: new RuleBook([...others, ...rule], version + 1) };
}

function subscribed(controls: Controls, words: readonly string[]): Controls {
  const options = Object.fromEntries(
    words.filter((word) => word !== "").map((word) => word.split("=") as [string, string]),
  );
  const subscription = { id: "sub_1", source: "", sink: "", options, createdAt: 0 };
  return { ...controls, subscriptions: new Map([["sub_1", subscription]]) };
}

interface Change {
  readonly limits?: SharedLimits | undefined;
  readonly handlers?: ServiceControl["handlers"] | undefined;
  readonly paused?: true | undefined;
}

function withService(controls: Controls, name: string, change: Change): Controls {
  const all = { ...controls.services.get(name), ...change };
  const control = Object.fromEntries(Object.entries(all).filter(([, one]) => one !== undefined));
  return { ...controls, services: new Map(controls.services).set(name, control) };
}

function held(
  controls: Controls,
  what: string,
  { name, isHeld }: { readonly name: string; readonly isHeld: boolean },
): Controls {
  if (what === "service") {
    return withService(controls, name, { paused: isHeld ? true : undefined });
  }
  const change = (set: ReadonlySet<string>, one: string) => {
    const next = new Set(set);
    if (isHeld) next.add(one);
    else next.delete(one);
    return next;
  };
  if (what === "deployment") {
    return { ...controls, pausedDeployments: change(controls.pausedDeployments, name) };
  }
  const [service = "", scope, limitKey] = name.split(":");
  const id = printQueueId({ service, scope, limitKey });
  return { ...controls, pausedQueues: change(controls.pausedQueues, id) };
}
