import { assert } from "../assert.ts";
import { Failure } from "../errors.ts";
import { type Deployment, Schema, type SchemaDefaults } from "../model/schema.ts";
import { type Clock, type DeploymentStore, Outdated, type Random } from "../ports.ts";
import { inSlices } from "../slices.ts";
import { changed, type ServiceChanges } from "./change_service.ts";
import { drawDeploymentId } from "./deployment_id.ts";
import { deploymentOf, nextRevision } from "./deployment_of.ts";
import { SerialQueues } from "./serial_queues.ts";
import { differs, missing, sharedAddress, stillNeeded, unwritable } from "./refusals.ts";
import type {
  Discover,
  Discovered,
  DiscoveryTarget,
  Registered,
  Registration,
  Update,
} from "./registration.ts";
import { sameManifest } from "./same_manifest.ts";
import { servedBy } from "./served_by.ts";
import { updated, updatedTarget } from "./update_in_place.ts";

export interface RegistryOptions {
  readonly discover: Discover;
  readonly clock: Pick<Clock, "now" | "soon">;
  readonly random: Random;
  /** Registrations and updates under way or waiting. Beyond it they are refused with 503. */
  readonly registrationsMax: number;
  /** Counts uncompleted invocations that are pinned to a deployment. Absent: they are not counted. */
  readonly pinned?: (id: string) => Promise<number>;
  /** For a store that other processes share: has them read it again. Never rejects. */
  readonly announce?: () => Promise<void>;
}

/** How often a change is repeated because another process has changed the store first. */
const CONFLICTS_MAX = 20;

/** The serial queue of all writes: no address is the empty string. */
const WRITING = "";

/** Owns the deployments: the stored ones, and the schema snapshot that everything else reads. */
export class Registry {
  readonly #store: DeploymentStore;
  readonly #options: RegistryOptions;
  readonly #queues = new SerialQueues();
  #schema: Schema;
  #underWay = 0;
  #isStale = false;
  #changes = 0;

  constructor(store: DeploymentStore, schema: Schema, options: RegistryOptions) {
    this.#store = store;
    this.#schema = schema;
    this.#options = options;
  }

  /** Loads the stored deployments. Rejects as the store does. */
  static async open(
    store: DeploymentStore,
    defaults: SchemaDefaults,
    options: RegistryOptions,
  ): Promise<Registry> {
    return new Registry(store, new Schema(await store.load(), defaults), options);
  }

  /** The version of the store's content that is known, where other processes write to it. */
  get version(): number {
    return this.#store.version ?? 0;
  }

  /** The current snapshot. It only ever shows deployments that are durable. */
  schema(): Schema {
    return this.#schema;
  }

  /** Reads the store, which another process may have changed. Rejects with `Failure` 503. */
  async reload(): Promise<void> {
    await this.#queues.run(WRITING, () => this.#reload("read"));
  }

  /** All deployments, oldest registration first. */
  list(): Deployment[] {
    return [...this.#schema.deployments.values()].sort(byAge);
  }

  get(id: string): Deployment | undefined {
    return this.#schema.deployments.get(id);
  }

  /**
   * Discovers and stores one endpoint; durable when it resolves. Registrations of one address are
   * serialized as a whole, so a stored manifest is never older than the one before it; an endpoint
   * that hangs delays no other address, because across addresses only deciding and writing are
   * serialized. Rejects with a `Failure`: discovery's; META0004 for a known address that serves
   * something else, META0005 for a reserved name, META0006 for a changed type, META0017 for a
   * forced registration of a shared address (docs/spec/admin.md#registration-of-deployments); 503
   * when too many are under way or the store fails.
   */
  register(request: Registration): Promise<Registered> {
    const ask = () => this.#targetOf(request);
    return this.#discovering("register", ask, (found) => this.#decideRegistration(request, found));
  }

  /**
   * Updates a deployment in place (docs/spec/admin.md#update-of-a-deployment); durable when it resolves with what it is then.
   * Takes turns with other updates of it, and as a registration of its address does. Rejects with a `Failure`: 404 for one
   * that is unknown; discovery's; META0016 and META0005 as `updated` throws them; 503.
   */
  async update(id: string, update: Update): Promise<Deployment> {
    return await this.#queues.run(id, async () => {
      if (this.#isStale) await this.#writing("update", () => Promise.resolve());
      const ask = () => updatedTarget(this.#known(id), update);
      return await this.#discovering("update", ask, async (found, target) => {
        const way = { target, found, services: update.services, schema: this.#schema };
        const deployment = await this.#sliced(updated(this.#known(id), way));
        if (!update.dryRun) await this.#save("update", deployment);
        return deployment;
      });
    });
  }

  /**
   * Changes the latest revision of a service, until its endpoint is registered again
   * (docs/spec/admin.md#services); durable when it resolves. Rejects with a `Failure`: 404 for one that is unknown, 400 as
   * `changed` throws it, 503 when the store fails.
   */
  async changeService(name: string, changes: ServiceChanges): Promise<void> {
    await this.#writing("change", async () => {
      const service = this.#schema.latest(name);
      const deployment = service && this.get(service.deployment);
      if (!deployment) throw missing("service", name);
      const services = deployment.services.map((one) =>
        one === service ? changed(one, changes) : one
      );
      await this.#save("change", { ...deployment, services });
    });
  }

  /**
   * Forgets a deployment; durable when it resolves. Its services fall back to the newest remaining
   * deployment that has them, or disappear (docs/spec/admin.md#deletion-of-a-deployment). Rejects with a `Failure`: 404 for one
   * that is unknown, 409 without `force` while something needs it, 503 when the store fails.
   */
  async remove(id: string, force: boolean): Promise<void> {
    // From now on only operators pin invocations to it: new calls go to the latest deployment.
    const pinned = force || !this.get(id) ? 0 : await this.#options.pinned?.(id);
    await this.#writing("delete", async () => {
      const deployment = this.#known(id);
      const services = servedBy(deployment, this.#schema);
      if (!force && (services.length > 0 || pinned !== 0)) {
        throw stillNeeded(id, { services, pinned });
      }
      await this.#write("delete", () => this.#store.drop(id));
      this.#show(this.#others(id));
    });
  }

  #known(id: string): Deployment {
    const deployment = this.get(id);
    if (!deployment) throw missing("deployment", id);
    return deployment;
  }

  /** Asks an endpoint in the serial queue of its address, then decides in that of all writes. */
  async #discovering<T>(
    verb: Verb,
    ask: () => DiscoveryTarget,
    decide: (found: Discovered, target: DiscoveryTarget) => Promise<T>,
  ): Promise<T> {
    if (this.#underWay >= this.#options.registrationsMax) {
      throw Failure.plain(
        503,
        `Cannot ${verb} a deployment: too many registrations are under way`,
      );
    }
    this.#underWay++;
    try {
      return await this.#queues.run(ask().uri, async () => {
        const target = ask();
        const found = await this.#options.discover(target);
        return await this.#writing(verb, () => decide(found, target));
      });
    } finally {
      this.#underWay--;
    }
  }

  async #writing<T>(verb: Verb, work: () => Promise<T>): Promise<T> {
    const { announce } = this.#options;
    const before = this.#changes;
    const result = await this.#queues.run(WRITING, () => this.#decide(verb, work));
    // Outside of the queue: other processes may wait for this one, with changes of their own.
    if (this.#changes !== before) await announce?.();
    return result;
  }

  /** Decides by what is stored, and repeats that while other processes change the store first. */
  async #decide<T>(verb: Verb, work: () => Promise<T>): Promise<T> {
    for (let conflicts = 0;; conflicts++) {
      if (this.#isStale || this.#options.announce) await this.#reload(verb);
      try {
        return await work();
      } catch (cause) {
        if (!(cause instanceof Outdated)) throw cause;
        if (conflicts === CONFLICTS_MAX) throw unwritable(verb, cause);
        this.#isStale = true;
      }
    }
  }

  /** Unless it is overwritten, a known endpoint is asked the way its attempts would be. */
  #targetOf({ uri, lambda, useHttp11, additionalHeaders, force }: Registration): DiscoveryTarget {
    const known = force ? undefined : this.#at(uri)[0];
    return {
      uri,
      ...(lambda && { lambda: { ...known?.lambda, ...lambda } }),
      useHttp11: useHttp11 || !lambda && known?.httpVersion === "HTTP/1.1",
      additionalHeaders: { ...known?.additionalHeaders, ...additionalHeaders },
    };
  }

  async #decideRegistration(request: Registration, found: Discovered): Promise<Registered> {
    const known = this.#at(request.uri);
    const [newest] = known;
    if (newest && !request.force) {
      if (!await this.#sliced(sameManifest(newest, found.manifest))) throw differs(newest);
      return { outcome: "unchanged", deployment: newest };
    }
    if (known.length > 1) throw sharedAddress(known);
    const schema = this.#schema;
    const deployment = await this.#sliced(deploymentOf(request, found, {
      id: newest?.id ?? this.#newId(),
      metadata: request.metadata,
      createdAt: this.#options.clock.now(),
      schema,
      revision: (name) => nextRevision(schema, name),
      mayChangeTypes: request.force || request.breaking,
    }));
    if (!request.dryRun) await this.#save("register", deployment);
    return { outcome: newest ? "overwritten" : "created", deployment };
  }

  /** The schema stays as it is meanwhile: every change of it waits in the queue of writes. */
  #sliced<T>(steps: Generator<void, T>): Promise<T> {
    return inSlices(steps, (call) => this.#options.clock.soon(call));
  }

  /** The deployments with this address, latest registration first. */
  #at(uri: string): Deployment[] {
    return this.list().filter((one) => one.uri === uri).reverse();
  }

  #newId(): string {
    const { clock, random } = this.#options;
    const id = drawDeploymentId(clock.now(), random);
    assert(!this.get(id), "A new deployment must not get the id of another one");
    return id;
  }

  async #save(verb: Verb, deployment: Deployment): Promise<void> {
    await this.#write(verb, () => this.#store.save(deployment));
    this.#show([...this.#others(deployment.id), deployment]);
  }

  async #write(verb: Verb, write: () => Promise<void>): Promise<void> {
    try {
      await write();
      this.#changes++;
    } catch (cause) {
      if (cause instanceof Outdated) throw cause;
      // The write may have been applied all the same, so the next one reads the store first.
      this.#isStale = true;
      throw unwritable(verb, cause);
    }
  }

  async #reload(verb: Verb): Promise<void> {
    try {
      this.#show(await this.#store.load());
    } catch (cause) {
      throw Failure.plain(503, `Cannot ${verb} a deployment: the store cannot be read`, { cause });
    }
    this.#isStale = false;
  }

  #others(than: string): Deployment[] {
    return [...this.#schema.deployments.values()].filter(({ id }) => id !== than);
  }

  #show(deployments: readonly Deployment[]): void {
    this.#schema = new Schema(deployments, this.#schema.defaults);
  }
}

type Verb = "read" | "register" | "update" | "change" | "delete";

function byAge(left: Deployment, right: Deployment): number {
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1);
}
