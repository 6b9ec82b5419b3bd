import type { DeploymentChoice } from "../engine/event.ts";
import { BadId, checkDeploymentId } from "../model/id.ts";
import type { Json } from "./json.ts";
import { badQuery } from "./refusals.ts";
import type { Call } from "./route.ts";

/** A query parameter: how it is read, and what the OpenAPI document says of it. */
export interface Parameter<T> {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
  /** Its value, or what stands in for it. Throws a `Failure` 400. */
  read(call: Call): T;
}

/**
 * The largest journal index a request may name: an unsigned 32-bit integer
 * (docs/spec/admin.md#operations).
 */
const indexMax = 2 ** 32 - 1;

/** `force`: true or false, absent means false. */
export const force = flagNamed("force", "Whether to do it although something still needs it.");

/** `include_subscriptions`: true or false, absent means false. */
export const includeSubscriptions = flagNamed(
  "include_subscriptions",
  "Whether the subscriptions that read from the cluster are shown in full.",
);

/** `source` of a subscription, exactly. */
export const source = textNamed("source", "Only subscriptions with this source.");

/** `sink` of a subscription, exactly. */
export const sink = textNamed("sink", "Only subscriptions with this sink.");

/** `group=delete`: whether the consumer group is deleted as well. */
export const group: Parameter<boolean> = {
  name: "group",
  description: "`delete`: the consumer group is deleted at the broker as well.",
  schema: { type: "string", enum: ["delete", "keep"], default: "keep" },
  read: (call) => {
    const value = readQuery(call, "group") ?? "keep";
    if (value === "delete" || value === "keep") return value === "delete";
    throw badQuery("group", "expected 'delete' or 'keep'");
  },
};

/**
 * `from`: the last journal entry to keep, 0 when absent
 * (docs/spec/admin.md#operations-on-invocations).
 */
export const from: Parameter<number> = {
  name: "from",
  description: "The last entry of the journal to keep. 0: nothing but the input.",
  schema: { type: "integer", minimum: 0, maximum: indexMax, default: 0 },
  read: (call) => {
    const digits = readQuery(call, "from") ?? "0";
    const index = /^\d{1,20}$/.test(digits) ? Number(digits) : NaN;
    if (index <= indexMax) return index;
    throw badQuery("from", `expected an integer from 0 to ${indexMax}`);
  },
};

/**
 * `deployment`, or undefined when the operation should choose
 * (docs/spec/admin.md#operations-on-invocations).
 */
export const deployment: Parameter<DeploymentChoice | undefined> = {
  name: "deployment",
  description: "Where to run it: 'latest', 'keep', or the id of a deployment.",
  schema: { type: "string" },
  read: (call) => {
    const value = readQuery(call, "deployment");
    if (value === undefined) return undefined;
    try {
      return parseDeployment(value);
    } catch (cause) {
      if (!(cause instanceof BadId)) throw cause;
      throw badQuery("deployment", cause.message, { cause });
    }
  },
};

/** `deployment` where only the id of one can be meant, or undefined. */
export const deploymentId: Parameter<string | undefined> = {
  name: "deployment",
  description: "The id of a deployment.",
  schema: { type: "string" },
  read: (call) => {
    const value = readQuery(call, "deployment");
    try {
      return value === undefined ? undefined : checkDeploymentId(value);
    } catch (cause) {
      if (!(cause instanceof BadId)) throw cause;
      throw badQuery("deployment", cause.message, { cause });
    }
  },
};

const MODES = [["Cancel", "cancel"], ["Kill", "kill"], ["Purge", "purge"]] as const;

/**
 * `mode` of the deprecated way to end an invocation: `Cancel` when absent
 * (docs/spec/admin.md#operations). Lower case is read as well, but not described: generators make
 * names of these, and two would be the same.
 */
export const mode: Parameter<"cancel" | "kill" | "purge"> = {
  name: "mode",
  description: "How to end it.",
  schema: { type: "string", enum: MODES.map(([name]) => name), default: "Cancel" },
  read: (call) => {
    const value = readQuery(call, "mode") ?? "Cancel";
    for (const [name, kind] of MODES) if (value === name || value === kind) return kind;
    throw badQuery("mode", "expected 'Cancel', 'Kill' or 'Purge'");
  },
};

/** `latest` or `keep`, as the path or the batch spells it, or a deployment id. Throws `BadId`. */
export function parseDeployment(value: string): DeploymentChoice {
  if (value === "latest" || value === "Latest") return { kind: "latest" };
  if (value === "keep" || value === "Keep") return { kind: "keep" };
  return { kind: "deployment", id: checkDeploymentId(value) };
}

function flagNamed(name: string, description: string): Parameter<boolean> {
  return {
    name,
    description,
    schema: { type: "boolean", default: false },
    read: (call) => {
      const value = readQuery(call, name) ?? "false";
      if (value === "true" || value === "false") return value === "true";
      throw badQuery(name, "expected 'true' or 'false'");
    },
  };
}

function textNamed(name: string, description: string): Parameter<string | undefined> {
  return { name, description, schema: { type: "string" }, read: (call) => readQuery(call, name) };
}

/** The one value of a query parameter, decoded. Throws a `Failure` 400 when it has several. */
function readQuery(call: Call, name: string): string | undefined {
  const [value, ...more] = new URL(call.url).searchParams.getAll(name);
  if (more.length > 0) throw badQuery(name, "it is given more than once");
  return value;
}
