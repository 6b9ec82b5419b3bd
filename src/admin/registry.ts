import { assert } from "../assert.ts";
import { Failure } from "../errors.ts";
import type { Deployment, Schema, SchemaDefaults } from "../model/schema.ts";
import type { Clock, DeploymentStore, Random } from "../ports.ts";
import { inSlices } from "../slices.ts";
import { type CatalogOptions, CatalogOwner } from "./catalog_owner.ts";
import { changed, type ServiceChanges } from "./change_service.ts";
import { type ControlOptions, ControlRegistry, serviceChange } from "./control_registry.ts";
import { drawDeploymentId } from "./drawn_id.ts";
import { deploymentOf, nextRevision } from "./deployment_of.ts";
import { type KafkaLimits, KafkaRegistry } from "./kafka/kafka_registry.ts";
import { SerialQueues } from "./serial_queues.ts";
import { differs, missing, sharedAddress, stillNeeded } from "./refusals.ts";
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
import { changedControl, type ControlChanges } from "./service_control.ts";
import { updated, updatedTarget } from "./update_in_place.ts";

export interface RegistryOptions extends CatalogOptions, ControlOptions, KafkaLimits {
  readonly discover: Discover;
  readonly clock: Pick<Clock, "now" | "soon">;
  readonly random: Random;
  /** Registrations and updates under way or waiting. Beyond it they are refused with 503. */
  readonly registrationsMax: number;
  /** Counts uncompleted invocations that are pinned to a deployment. Absent: they are not counted. */
  readonly pinned?: (id: string) => Promise<number>;
}

/** Registers, updates and deletes deployments, and shows the snapshot that everything else reads. */
export class Registry {
  /** Rules, limits and pauses. */
  readonly controls: ControlRegistry;
  /** Kafka clusters and subscriptions. */
  readonly kafka: KafkaRegistry;
  readonly #catalog: CatalogOwner;
  readonly #options: RegistryOptions;
  readonly #queues = new SerialQueues();
  #underWay = 0;

  constructor(catalog: CatalogOwner, options: RegistryOptions) {
    this.#catalog = catalog;
    this.#options = options;
    this.controls = new ControlRegistry(catalog, options);
    this.kafka = new KafkaRegistry(catalog, options);
  }

  /** Loads the stored deployments. Rejects as the store does. */
  static async open(
    store: DeploymentStore,
    defaults: SchemaDefaults,
    options: RegistryOptions,
  ): Promise<Registry> {
    return new Registry(await CatalogOwner.open(store, defaults, options), options);
  }

  /** As `CatalogOwner.version`. */
  get version(): number {
    return this.#catalog.version;
  }

  /** The current snapshot. It only ever shows what is durable. */
  schema(): Schema {
    return this.#catalog.schema();
  }

  /** As `CatalogOwner.subscribe`: after each change of what limits and pauses invocations. */
  subscribe(listener: () => void): () => void {
    return this.#catalog.subscribe(listener);
  }

  /** As `CatalogOwner.subscribeAll`: for each new snapshot. */
  subscribeAll(listener: () => void): () => void {
    return this.#catalog.subscribeAll(listener);
  }

  /** Reads the store, which another process may have changed. Rejects with `Failure` 503. */
  async reload(): Promise<void> {
    await this.#catalog.reload();
  }

  /** All deployments, oldest registration first. */
  list(): Deployment[] {
    return [...this.schema().deployments.values()].sort(byAge);
  }

  get(id: string): Deployment | undefined {
    return this.schema().deployments.get(id);
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
    return this.#discovering(REGISTER, ask, (found) => this.#decideRegistration(request, found));
  }

  /**
   * Updates a deployment in place (docs/spec/admin.md#update-of-a-deployment); durable when it resolves with what it is then.
   * Takes turns with other updates of it, and as a registration of its address does. Rejects with a `Failure`: 404 for one
   * that is unknown; discovery's; META0016 and META0005 as `updated` throws them; 503.
   */
  async update(id: string, update: Update): Promise<Deployment> {
    return await this.#queues.run(id, async () => {
      await this.#catalog.refresh(UPDATE);
      const ask = () => updatedTarget(this.#known(id), update);
      return await this.#discovering(UPDATE, ask, async (found, target) => {
        const way = { target, found, services: update.services, schema: this.schema() };
        const deployment = await this.#sliced(updated(this.#known(id), way));
        const { paused } = update;
        const change = paused === undefined ? {} : { deployments: new Map([[id, paused]]) };
        if (!update.dryRun) await this.#catalog.save(UPDATE, deployment, change);
        return deployment;
      });
    });
  }

  /**
   * Changes the latest revision of a service, until its endpoint is registered again
   * (docs/spec/admin.md#services), and its limits and pause for good
   * (docs/spec/admin.md#limits-of-services); durable when it resolves, all of it or nothing. Rejects
   * with a `Failure`: 404 for one that is unknown, 400 as `changed` throws it, 503 when the store fails.
   */
  async changeService(
    name: string,
    changes: ServiceChanges | undefined,
    controls: ControlChanges = {},
  ): Promise<void> {
    await this.#catalog.writing(CHANGE, async () => {
      const service = this.schema().latest(name);
      const deployment = service && this.get(service.deployment);
      if (!deployment) throw missing("service", name);
      const before = this.schema().controls.services.get(name);
      const change = serviceChange(
        name,
        before,
        changedControl(before, controls, this.#options.clock.now()),
      );
      if (!changes) {
        if (change) await this.#catalog.control(CHANGE, change);
        return;
      }
      const services = deployment.services.map((one) =>
        one === service ? changed(one, changes) : one
      );
      await this.#catalog.save(CHANGE, { ...deployment, services }, change);
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
    await this.#catalog.writing(DELETE, async () => {
      const deployment = this.#known(id);
      const services = servedBy(deployment, this.schema());
      if (!force && (services.length > 0 || pinned !== 0)) {
        throw stillNeeded(id, { services, pinned });
      }
      await this.#catalog.drop(DELETE, id);
    });
  }

  #known(id: string): Deployment {
    const deployment = this.get(id);
    if (!deployment) throw missing("deployment", id);
    return deployment;
  }

  /** Asks an endpoint in the serial queue of its address, then decides in that of all writes. */
  async #discovering<T>(
    what: string,
    ask: () => DiscoveryTarget,
    decide: (found: Discovered, target: DiscoveryTarget) => Promise<T>,
  ): Promise<T> {
    if (this.#underWay >= this.#options.registrationsMax) {
      throw Failure.plain(
        503,
        `Cannot ${what}: too many registrations are under way`,
      );
    }
    this.#underWay++;
    try {
      return await this.#queues.run(ask().uri, async () => {
        const target = ask();
        const found = await this.#options.discover(target);
        return await this.#catalog.writing(what, () => decide(found, target));
      });
    } finally {
      this.#underWay--;
    }
  }

  /** Unless it is overwritten, a known endpoint is asked the way its attempts would be. */
  #targetOf(asked: Registration): DiscoveryTarget {
    const { uri, lambda, useHttp11, additionalHeaders, force } = asked;
    const known = force ? undefined : this.#at(uri)[0];
    const identityToken = asked.identityToken ?? known?.identityToken;
    return {
      uri,
      ...(lambda && { lambda: { ...known?.lambda, ...lambda } }),
      useHttp11: useHttp11 || !lambda && known?.httpVersion === "HTTP/1.1",
      additionalHeaders: { ...known?.additionalHeaders, ...additionalHeaders },
      ...(identityToken && { identityToken }),
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
    const schema = this.schema();
    const deployment = await this.#sliced(deploymentOf(request, found, {
      id: newest?.id ?? this.#newId(),
      metadata: request.metadata,
      createdAt: this.#options.clock.now(),
      schema,
      revision: (name) => nextRevision(schema, name),
      mayChangeTypes: request.force || request.breaking,
    }));
    if (!request.dryRun) await this.#catalog.save(REGISTER, deployment);
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
}

const REGISTER = "register a deployment";
const UPDATE = "update a deployment";
const CHANGE = "change a service";
const DELETE = "delete a deployment";

function byAge(left: Deployment, right: Deployment): number {
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1);
}
