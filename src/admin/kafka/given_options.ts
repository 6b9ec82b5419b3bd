import {
  checkOptions,
  isSecretOption,
  namesBrokers,
  type Options,
  type OptionsOf,
  REDACTED,
} from "../../kafka/options.ts";
import { topicOf } from "../../kafka/source.ts";
import { deadLetterTopicOf, type KafkaCluster, type Subscription } from "../../model/kafka.ts";
import { badOptions, lettersAreRead, noBroker, tooLong } from "./kafka_refusals.ts";

/** Characters of all names and values of one cluster or subscription: every process keeps them in memory. */
const CHARACTERS_MAX = 128 * 1024;

/**
 * Checks the properties of a cluster. Throws a `Failure`: 400 when they name no broker or are too long,
 * META0009 for one that is unknown or cannot have its value.
 */
export function checkProperties(cluster: string, properties: Options): void {
  if (!namesBrokers(properties)) throw noBroker(cluster);
  check(properties, { of: "cluster" });
}

/**
 * The options of a new subscription: what is given, and the consumer group that it keeps. Throws a
 * `Failure`: META0009 for one that is unknown or cannot have its value, 400 when they are too long.
 */
export function newOptions(given: Options, { id, source, cluster }: OptionsOwner): Options {
  check(given, { of: "subscription" });
  const letters = deadLetterTopicOf(given);
  if (letters !== undefined && letters === topicOf({ source })) throw lettersAreRead(letters);
  const group = given["group.id"] ?? cluster?.properties["group.id"] ?? id;
  return { ...given, "group.id": group };
}

/** Whose options they are. */
export interface OptionsOwner extends Pick<Subscription, "id" | "source"> {
  readonly cluster: KafkaCluster | undefined;
}

/** The options of a subscription after changes, by name. Null: removed. Throws as `newOptions`. */
export function changedOptions(
  { id, source, options }: Subscription,
  changes: Readonly<Record<string, string | null>>,
  cluster: KafkaCluster | undefined,
): Options {
  const removed = new Set(Object.keys(changes).filter((name) => changes[name] === null));
  const kept = Object.entries(options).filter(([name]) => !removed.has(name));
  const set = Object.entries(changes).filter((one): one is [string, string] => one[1] !== null);
  const given = withSecretsOf(options, Object.fromEntries(set));
  return newOptions({ ...Object.fromEntries(kept), ...given }, { id, source, cluster });
}

/** `given`, with the known values of secrets that are given as they are shown. */
export function withSecretsOf(known: Options, given: Options): Options {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const isShown = value === REDACTED && isSecretOption(name) && Object.hasOwn(known, name);
      return [name, isShown ? known[name] ?? value : value];
    }),
  );
}

function check(options: Options, of: OptionsOf): void {
  const characters = Object.entries(options)
    .reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (characters > CHARACTERS_MAX) throw tooLong(CHARACTERS_MAX);
  const problems = checkOptions(options, of);
  if (problems.length > 0) throw badOptions(problems);
}
