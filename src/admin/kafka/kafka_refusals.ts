import { Failure } from "../../errors.ts";
import { quote } from "../refusals.ts";

/** Names that a refusal lists. */
const NAMES_MAX = 20;

/** The cluster in the path does not exist: 404. */
export function missingCluster(name: string): Failure {
  return Failure.plain(404, `The requested Kafka cluster ${quote(name)} does not exist`);
}

/** The subscription in the path does not exist: 404. */
export function missingSubscription(id: string): Failure {
  return Failure.plain(404, `The requested subscription ${quote(id)} does not exist`);
}

/** A cluster of this name exists: 409. */
export function clusterExists(name: string): Failure {
  return Failure.plain(
    409,
    `Cannot create Kafka cluster ${quote(name)}: it exists already; change it with PATCH`,
  );
}

/** Subscriptions read from a cluster that is to be deleted: 409. */
export function clusterInUse(name: string, subscription: string): Failure {
  return Failure.plain(
    409,
    `Cannot delete Kafka cluster ${quote(name)}: subscription '${subscription}' reads from it; ` +
      "delete that first, or repeat with 'force=true'",
  );
}

/** The source of a new subscription names an unknown cluster: META0009, with those that are known. */
export function unknownCluster(name: string, known: readonly string[]): Failure {
  const names = known.slice(0, NAMES_MAX).map((one) => JSON.stringify(one)).join(", ");
  const detail = `Kafka cluster ${quote(name)} not found. Available clusters: [${names}]`;
  return new Failure("META0009", detail);
}

/** Another subscription uses a group that is to be deleted: 409. */
export function groupInUse(id: string, group: string, other: string): Failure {
  return Failure.plain(
    409,
    `Cannot delete subscription '${id}' with its group ${quote(group)}: subscription '${other}' ` +
      "uses that group as well",
  );
}

/** No broker is named: 400. */
export function noBroker(name: string): Failure {
  return Failure.plain(
    400,
    `kafka cluster ${quote(name)} properties must contain either 'bootstrap.servers' or ` +
      "'metadata.broker.list'",
  );
}

/** Options that nothing reads, or that have values they cannot have: META0009. */
export function badOptions(problems: readonly string[]): Failure {
  const shown = problems.slice(0, PROBLEMS_MAX).map((one) => one.slice(0, PROBLEM_MAX)).join("; ");
  return new Failure("META0009", `invalid options: ${shown}`);
}

/** Dead letters would go to the topic that is read, and become dead letters again: META0009. */
export function lettersAreRead(topic: string): Failure {
  return badOptions([
    `option "on.poison" names ${
      quote(topic)
    }, which the subscription reads: each dead letter would ` +
    "become another one; name another topic",
  ]);
}

/** Problems of options that a refusal lists, and characters of each. */
const PROBLEMS_MAX = 10;
const PROBLEM_MAX = 300;

/** Options are too long: 400. */
export function tooLong(characters: number): Failure {
  return Failure.plain(400, `Cannot use the options: they have more than ${characters} characters`);
}

/** There are as many clusters as may be: 409. */
export function tooManyClusters(max: number): Failure {
  const hint = `delete one, or raise the setting "kafka.clusters-limit"`;
  return Failure.plain(409, `Cannot create the Kafka cluster: there are ${max} already; ${hint}`);
}

/** There are as many subscriptions as may be: 409. */
export function tooManySubscriptions(max: number): Failure {
  const hint = `delete one, or raise the setting "kafka.subscriptions-limit"`;
  return Failure.plain(409, `Cannot create the subscription: there are ${max} already; ${hint}`);
}

/** As many records of a subscription are to be skipped as may be: 409. */
export function tooManySkips(id: string, max: number): Failure {
  return Failure.plain(
    409,
    `Cannot skip a record of subscription '${id}': ${max} partitions have one to skip already`,
  );
}
