import { didYouMeanName } from "../nearest.ts";
import type { OptionKind } from "./option_kinds.ts";
import {
  ALIASES,
  FOLLOWED,
  IGNORED,
  JAVA_ONLY,
  OWN,
  OWN_CLIENT,
  UNSUPPORTED,
  UNSUPPORTED_VALUES,
} from "./option_table.ts";

/** Options by name, as operators write them. */
export type Options = Readonly<Record<string, string>>;

/** The words that follow `auto.offset.reset`, by what they mean. */
export type OffsetReset = "earliest" | "latest" | "error";

/** Whose options they are: those of this project concern subscriptions. */
export interface OptionsOf {
  readonly of: "cluster" | "subscription";
}

/**
 * What is wrong with options, a sentence without a period for each: names that nothing reads (with the
 * nearest one that is read), names of the Java client, values out of range. Empty: nothing is wrong.
 * Values of secrets do not appear.
 */
export function checkOptions(options: Options, { of }: OptionsOf): readonly string[] {
  const problems = Object.entries(options).flatMap(([name, value]) => {
    const problem = optionProblem(name, value, of);
    return problem === undefined ? [] : [`option "${name}" ${problem}`];
  });
  if (problems.length > 0) return problems;
  const [session, heartbeat] = [options["session.timeout.ms"], options["heartbeat.interval.ms"]];
  if (session === undefined || heartbeat === undefined || Number(heartbeat) < Number(session)) {
    return [];
  }
  return [`option "heartbeat.interval.ms" must be less than "session.timeout.ms", ${session}`];
}

function optionProblem(name: string, value: string, of: OptionsOf["of"]): string | undefined {
  const own = kindIn(OWN, name);
  if (own !== undefined && of === "cluster") return "belongs to a subscription, not to a cluster";
  const kind = own ?? kindIn(FOLLOWED, canonical(name)) ?? kindIn(OWN_CLIENT, name) ??
    kindIn(UNSUPPORTED_VALUES, name);
  if (kind !== undefined) return hidden(name, kind(value));
  if (IGNORED.has(name)) return undefined;
  if (UNSUPPORTED.has(name)) return "is not supported";
  const instead = Object.hasOwn(JAVA_ONLY, name) ? JAVA_ONLY[name] : undefined;
  if (instead !== undefined) return `is one of the Java client${instead && `, use ${instead}`}`;
  return `does not exist${didYouMeanName(name, knownNames(of))}`;
}

function kindIn(table: Readonly<Record<string, OptionKind>>, name: string): OptionKind | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A secret of the wrong form is not repeated. */
function hidden(name: string, problem: string | undefined): string | undefined {
  return problem !== undefined && isSecretOption(name)
    ? problem.replace(/, not ".*/s, "")
    : problem;
}

function knownNames(of: OptionsOf["of"]): readonly string[] {
  const own = of === "subscription" ? Object.keys(OWN) : [];
  return [FOLLOWED, ALIASES, OWN_CLIENT].flatMap(Object.keys).concat(own, ...IGNORED);
}

/** The first name of an option that has several. */
function canonical(name: string): string {
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] ?? name : name;
}

/** Options in force: those of the subscription replace those of the cluster, under any of their names. */
export function effectiveOptions(cluster: Options, subscription: Options): Options {
  const entries = [cluster, subscription].flatMap((one) => Object.entries(one));
  return Object.fromEntries(entries.map(([name, value]) => [canonical(name), value]));
}

/** Options that are set and that the sidecar does not follow, for a warning. */
export function ignoredOptions(options: Options): readonly string[] {
  return Object.keys(options).filter((name) => IGNORED.has(name) && !FORCED.has(name));
}

/** Set by the sidecar whatever is given, as in the reference. */
const FORCED: ReadonlySet<string> = new Set(["enable.auto.commit", "enable.auto.offset.store"]);

/** Whether a cluster's properties name its brokers. */
export function namesBrokers(properties: Options): boolean {
  return properties["bootstrap.servers"] !== undefined ||
    properties["metadata.broker.list"] !== undefined;
}

const BROKER_PORT = 9092;

/** Addresses with ports, of `bootstrap.servers` in options in force. A protocol in front is dropped. */
export function brokersOf(options: Options): readonly string[] {
  const list = (options["bootstrap.servers"] ?? "").split(",").map((one) => one.trim());
  return list.filter((one) => one !== "").map((one) => {
    const address = one.replace(/^[a-z_]+:\/\//i, "");
    return /:\d+$/.test(address) ? address : `${address}:${BROKER_PORT}`;
  });
}

/** Where to start where the group has no offset. */
export function offsetResetOf(options: Options): OffsetReset {
  const word = options["auto.offset.reset"]?.toLowerCase();
  if (word === "error") return "error";
  return ["earliest", "smallest", "beginning"].includes(word ?? "") ? "earliest" : "latest";
}

/** An option is secret if its name, in lower case, has one of these in it. */
export const SECRET_PARTS: readonly string[] = [
  "password",
  "secret",
  "passphrase",
  "sasl.username",
  "sasl.jaas.config",
  "sasl.oauthbearer.config",
  "sasl.oauthbearer.token.command",
  "token.endpoint.url",
  "ssl.key.location",
  "ssl.key.pem",
  "keystore.location",
  "truststore.location",
  "sasl.oauthbearer.assertion.private.key",
];

/** What is shown for the value of a secret option. */
export const REDACTED = "***";

/** Whether the value of an option is shown as `***`. */
export function isSecretOption(name: string): boolean {
  const lower = name.toLowerCase();
  return SECRET_PARTS.some((part) => lower.includes(part));
}

/** Options as they are shown: values of secrets are `***`. */
export function redacted(options: Options): Options {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, isSecretOption(name) ? REDACTED : value]),
  );
}
