import type { KafkaCluster, RecordPlace, Subscription } from "../../model/kafka.ts";
import type { Controls } from "../../model/limits.ts";
import { sourceOf } from "../../kafka/source.ts";
import type { Clock, Random } from "../../ports.ts";
import type { CatalogOwner } from "../catalog_owner.ts";
import { drawSubscriptionId } from "../drawn_id.ts";
import { readSink, readSource } from "./addresses.ts";
import { changedOptions, checkProperties, newOptions, withSecretsOf } from "./given_options.ts";
import {
  clusterExists,
  clusterInUse,
  groupInUse,
  missingCluster,
  missingSubscription,
  tooManyClusters,
  tooManySkips,
  tooManySubscriptions,
  unknownCluster,
} from "./kafka_refusals.ts";

export interface KafkaLimits {
  /** Clusters. Beyond it they are refused with 409. */
  readonly clustersMax: number;
  /** Subscriptions. Beyond it they are refused with 409. */
  readonly subscriptionsMax: number;
}

export interface KafkaRegistryOptions extends KafkaLimits {
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** What is given of a new subscription. */
export interface NewSubscription {
  readonly source: string;
  readonly sink: string;
  readonly options: Readonly<Record<string, string>>;
}

/** Changes of a subscription. Absent: as it is. */
export interface SubscriptionChange {
  /** By name. Null: the option is removed. */
  readonly options?: Readonly<Record<string, string | null>>;
  readonly paused?: boolean;
}

/** Records of one subscription that wait to be passed over. */
const SKIPS_MAX = 1000;

const CREATE_CLUSTER = "create a Kafka cluster";
const UPDATE_CLUSTER = "update a Kafka cluster";
const DELETE_CLUSTER = "delete a Kafka cluster";
const SUBSCRIBE = "create a subscription";
const UPDATE = "update a subscription";
const DELETE = "delete a subscription";
const SKIP = "skip a record";
const SETTLE = "settle what a sidecar reports";

/**
 * Changes clusters and subscriptions (docs/spec/admin.md#kafka). Everything is durable, and in the
 * snapshot, when a method resolves. No method asks a broker. Each rejects with `Failure` 503 when the
 * store fails.
 */
export class KafkaRegistry {
  readonly #catalog: CatalogOwner;
  readonly #options: KafkaRegistryOptions;

  constructor(catalog: CatalogOwner, options: KafkaRegistryOptions) {
    this.#catalog = catalog;
    this.#options = options;
  }

  /** All clusters, by name. */
  clusters(): KafkaCluster[] {
    return [...this.#controls.clusters.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /** Throws `Failure` 404 for one that is unknown. */
  cluster(name: string): KafkaCluster {
    return clusterIn(this.#controls, name);
  }

  /** All subscriptions, the oldest first. `cluster`: only those that read from it. */
  subscriptions(cluster?: string): Subscription[] {
    return [...this.#controls.subscriptions.values()]
      .filter((one) => !one.isLeaving && (cluster === undefined || isOf(cluster, one)))
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  /** Throws `Failure` 404 for one that is unknown. */
  subscription(id: string): Subscription {
    return subscriptionIn(this.#controls, id);
  }

  /** Rejects with `Failure`: 409 for a name that is taken, 400 and META0009 as `checkProperties`. */
  async createCluster(
    name: string,
    properties: KafkaCluster["properties"],
  ): Promise<KafkaCluster> {
    checkProperties(name, properties);
    const { clock, clustersMax } = this.#options;
    return await this.#catalog.writing(CREATE_CLUSTER, async () => {
      const { clusters } = this.#controls;
      if (clusters.has(name)) throw clusterExists(name);
      if (clusters.size >= clustersMax) throw tooManyClusters(clustersMax);
      const cluster = { name, properties, createdAt: clock.now() };
      await this.#setCluster(CREATE_CLUSTER, cluster);
      return cluster;
    });
  }

  /**
   * Replaces all properties of a cluster; a secret that is given as it is shown stays. Rejects with
   * `Failure`: 404 for one that is unknown, 400 and META0009 as `checkProperties`.
   */
  async updateCluster(
    name: string,
    given: KafkaCluster["properties"],
  ): Promise<KafkaCluster> {
    return await this.#catalog.writing(UPDATE_CLUSTER, async () => {
      const known = this.cluster(name);
      const properties = withSecretsOf(known.properties, given);
      checkProperties(name, properties);
      const cluster = { ...known, properties };
      await this.#setCluster(UPDATE_CLUSTER, cluster);
      return cluster;
    });
  }

  /**
   * Forgets a cluster, and subscriptions of it that are leaving. Rejects with `Failure`: 404 for one that
   * is unknown, 409 without `force` while subscriptions read from it.
   */
  async removeCluster(name: string, force: boolean): Promise<void> {
    await this.#catalog.writing(DELETE_CLUSTER, async () => {
      this.cluster(name);
      const [reader] = this.subscriptions(name);
      if (reader && !force) throw clusterInUse(name, reader.id);
      const leaving = [...this.#controls.subscriptions.values()]
        .filter((one) => one.isLeaving && isOf(name, one));
      await this.#catalog.control(DELETE_CLUSTER, {
        clusters: new Map([[name, undefined]]),
        subscriptions: new Map(leaving.map(({ id }) => [id, undefined])),
      });
    });
  }

  /**
   * Rejects with `Failure`: 400, 422 and META0009 for a source, sink or option that cannot be used, 400
   * for an unknown cluster, 409 when there are too many.
   */
  async subscribe({ source: from, sink: to, options }: NewSubscription): Promise<Subscription> {
    const { clock, random, subscriptionsMax } = this.#options;
    return await this.#catalog.writing(SUBSCRIBE, async () => {
      const schema = this.#catalog.schema();
      const source = readSource(from);
      const sink = readSink(to, schema);
      const cluster = this.#clusterOf(source);
      const known = this.#controls.subscriptions;
      if (known.size >= subscriptionsMax) throw tooManySubscriptions(subscriptionsMax);
      const now = clock.now();
      const id = drawSubscriptionId(now, random);
      const all = newOptions(options, { id, source, cluster });
      const subscription = { id, source, sink, options: all, createdAt: now };
      await this.#set(SUBSCRIBE, subscription);
      return subscription;
    });
  }

  /**
   * Changes options and pause; a secret that is given as it is shown stays. Rejects with `Failure`: 404
   * for one that is unknown, META0009 for an option that cannot be used.
   */
  async update(id: string, { options, paused }: SubscriptionChange): Promise<Subscription> {
    return await this.#catalog.writing(UPDATE, async () => {
      const known = this.subscription(id);
      const { paused: before, ...rest } = known;
      const cluster = this.#controls.clusters.get(sourceOf(known).cluster);
      const after: Subscription = {
        ...rest,
        ...(options && { options: changedOptions(known, options, cluster) }),
        ...((paused ?? before) && { paused: true }),
      };
      if (JSON.stringify(after) !== JSON.stringify(known)) await this.#set(UPDATE, after);
      return after;
    });
  }

  /**
   * Forgets a subscription. `withGroup`: a sidecar deletes its consumer group as well. Rejects with
   * `Failure`: 404 for one that is unknown, 409 when another subscription uses the group.
   */
  async remove(id: string, { withGroup }: { readonly withGroup: boolean }): Promise<void> {
    await this.#catalog.writing(DELETE, async () => {
      const known = this.subscription(id);
      if (!withGroup) return await this.#drop(DELETE, [id]);
      const { cluster } = sourceOf(known);
      const group = known.options["group.id"] ?? id;
      const other = this.subscriptions(cluster)
        .find((one) => one.id !== id && one.options["group.id"] === group);
      if (other) throw groupInUse(id, group, other.id);
      // Without its cluster there is nothing that a sidecar could ask.
      if (!this.#controls.clusters.has(cluster)) return await this.#drop(DELETE, [id]);
      await this.#set(DELETE, { ...known, isLeaving: true });
    });
  }

  /**
   * Has a record passed over when it is next. Replaces what was to be skipped of its partition. Rejects
   * with `Failure`: 404 for an unknown subscription, 409 when too many are to be skipped.
   */
  async skip(id: string, place: RecordPlace): Promise<void> {
    await this.#catalog.writing(SKIP, async () => {
      const known = this.subscription(id);
      const others = known.skips?.filter((one) => !isSamePartition(one, place)) ?? [];
      if (others.length >= SKIPS_MAX) throw tooManySkips(id, SKIPS_MAX);
      await this.#set(SKIP, { ...known, skips: [...others, place] });
    });
  }

  /**
   * Forgets subscriptions that are leaving once their group is deleted, and records to be skipped that
   * `isPassed` says are passed. Writes nothing when there is nothing to forget.
   */
  async settle(
    deleted: readonly string[],
    isPassed: (subscription: string, place: RecordPlace) => boolean,
  ): Promise<void> {
    if (this.#settled(deleted, isPassed).size === 0) return;
    await this.#catalog.writing(SETTLE, async () => {
      const subscriptions = this.#settled(deleted, isPassed);
      if (subscriptions.size > 0) await this.#catalog.control(SETTLE, { subscriptions });
    });
  }

  #settled(
    deleted: readonly string[],
    isPassed: (subscription: string, place: RecordPlace) => boolean,
  ): Map<string, Subscription | undefined> {
    const changes = new Map<string, Subscription | undefined>();
    for (const known of this.#controls.subscriptions.values()) {
      const { skips = [], ...rest } = known;
      const left = skips.filter((place) => !isPassed(known.id, place));
      if (known.isLeaving && deleted.includes(known.id)) changes.set(known.id, undefined);
      else if (left.length < skips.length) {
        changes.set(known.id, { ...rest, ...(left.length > 0 && { skips: left }) });
      }
    }
    return changes;
  }

  get #controls(): Controls {
    return this.#catalog.schema().controls;
  }

  #clusterOf(source: string): KafkaCluster {
    const { cluster: name } = sourceOf({ source });
    const cluster = this.#controls.clusters.get(name);
    if (!cluster) throw unknownCluster(name, this.clusters().map((one) => one.name));
    return cluster;
  }

  async #setCluster(what: string, cluster: KafkaCluster): Promise<void> {
    await this.#catalog.control(what, { clusters: new Map([[cluster.name, cluster]]) });
  }

  async #set(what: string, subscription: Subscription): Promise<void> {
    const subscriptions = new Map([[subscription.id, subscription]]);
    await this.#catalog.control(what, { subscriptions });
  }

  async #drop(what: string, ids: readonly string[]): Promise<void> {
    const subscriptions = new Map(ids.map((id) => [id, undefined]));
    await this.#catalog.control(what, { subscriptions });
  }
}

function clusterIn({ clusters }: Controls, name: string): KafkaCluster {
  const known = clusters.get(name);
  if (!known) throw missingCluster(name);
  return known;
}

function subscriptionIn({ subscriptions }: Controls, id: string): Subscription {
  const known = subscriptions.get(id);
  if (!known || known.isLeaving) throw missingSubscription(id);
  return known;
}

function isOf(cluster: string, subscription: Subscription): boolean {
  return sourceOf(subscription).cluster === cluster;
}

function isSamePartition(a: RecordPlace, b: RecordPlace): boolean {
  return a.topic === b.topic && a.partition === b.partition;
}
