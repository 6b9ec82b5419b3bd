import { Failure } from "../errors.ts";
import {
  changedControls,
  type ControlsChange,
  controlsOf,
  keptControls,
  sameFlow,
} from "../model/controls.ts";
import type { Controls } from "../model/limits.ts";
import { type Deployment, Schema, type SchemaDefaults } from "../model/schema.ts";
import { type Catalog, type DeploymentStore, Outdated } from "../ports.ts";
import { unwritable } from "./refusals.ts";
import { SerialQueues } from "./serial_queues.ts";

export interface CatalogOptions {
  /** For a store that other processes share: has them read it again. Never rejects. */
  readonly announce?: () => Promise<void>;
}

/** How often a change is repeated because another process has changed the store first. */
const CONFLICTS_MAX = 20;

/** The key of the one serial queue. */
const WRITING = "";

/**
 * Owns the snapshot of everything that operators have set, and its store. A change is decided in
 * `writing` by what is stored, is durable before the snapshot shows it, and is repeated when another
 * process was first. `what`, everywhere: what is being done, for refusals, such as
 * `register a deployment`.
 */
export class CatalogOwner {
  readonly #store: DeploymentStore;
  readonly #options: CatalogOptions;
  readonly #queue = new SerialQueues();
  readonly #listeners = new Set<() => void>();
  readonly #allListeners = new Set<() => void>();
  #schema: Schema;
  #isStale = false;
  #changes = 0;

  constructor(store: DeploymentStore, schema: Schema, options: CatalogOptions) {
    this.#store = store;
    this.#schema = schema;
    this.#options = options;
  }

  /** Loads what is stored. Rejects as the store does. */
  static async open(
    store: DeploymentStore,
    defaults: SchemaDefaults,
    options: CatalogOptions,
  ): Promise<CatalogOwner> {
    const { deployments, controls } = await store.load();
    return new CatalogOwner(
      store,
      new Schema(deployments, defaults, controlsOf(controls)),
      options,
    );
  }

  /** The version of the store's content that is known, where other processes write to it. */
  get version(): number {
    return this.#store.version ?? 0;
  }

  /** The current snapshot. It only ever shows what is durable. */
  schema(): Schema {
    return this.#schema;
  }

  /**
   * Calls `listener` after each change of what limits and pauses invocations, by this process or another
   * one, when the snapshot shows it; and while a deployment is paused after every change, since a newer one
   * may take over its services. It must not throw. Returns a function that ends that.
   */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** As `subscribe`, for each new snapshot, whatever is new in it. */
  subscribeAll(listener: () => void): () => void {
    this.#allListeners.add(listener);
    return () => void this.#allListeners.delete(listener);
  }

  /** Reads the store, which another process may have changed. Rejects with `Failure` 503. */
  async reload(): Promise<void> {
    await this.#queue.run(WRITING, () => this.#reload("read the deployments"));
  }

  /** Reads the store if a write to it has failed, so that the snapshot is right. Rejects with `Failure` 503. */
  async refresh(what: string): Promise<void> {
    if (this.#isStale) await this.writing(what, () => Promise.resolve());
  }

  /**
   * Decides and writes, in turn with everything else that does, and announces changes to other
   * processes. `work` may run several times. Rejects as `work` does, and with `Failure` 503 when the
   * store fails or other processes are always first.
   */
  async writing<T>(what: string, work: () => Promise<T>): Promise<T> {
    const before = this.#changes;
    const result = await this.#queue.run(WRITING, () => this.#decide(what, work));
    // Outside of the queue: other processes may wait for this one, with changes of their own.
    if (this.#changes !== before) await this.#options.announce?.();
    return result;
  }

  /** Within `writing`: saves a deployment, and changes controls with it. */
  async save(what: string, deployment: Deployment, change?: ControlsChange): Promise<void> {
    await this.#write(what, () => this.#store.save(deployment, change));
    const controls = change && changedControls(this.#schema.controls, change);
    this.#show([...this.#others(deployment.id), deployment], controls);
  }

  /** Within `writing`: removes a deployment, and whether it is paused. */
  async drop(what: string, id: string): Promise<void> {
    await this.#write(what, () => this.#store.drop(id));
    const { controls } = this.#schema;
    const isPaused = controls.pausedDeployments.has(id);
    const resumed = { deployments: new Map([[id, false]]) };
    this.#show(this.#others(id), isPaused ? changedControls(controls, resumed) : controls);
  }

  /** Within `writing`: changes controls. */
  async control(what: string, change: ControlsChange): Promise<void> {
    await this.#write(what, () => this.#store.control(change));
    this.#show(
      [...this.#schema.deployments.values()],
      changedControls(this.#schema.controls, change),
    );
  }

  /** Decides by what is stored, and repeats that while other processes change the store first. */
  async #decide<T>(what: string, work: () => Promise<T>): Promise<T> {
    for (let conflicts = 0;; conflicts++) {
      if (this.#isStale || this.#options.announce) await this.#reload(what);
      try {
        return await work();
      } catch (cause) {
        if (!(cause instanceof Outdated)) throw cause;
        if (conflicts === CONFLICTS_MAX) throw unwritable(what, cause);
        this.#isStale = true;
      }
    }
  }

  async #write(what: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
      this.#changes++;
    } catch (cause) {
      if (cause instanceof Outdated) throw cause;
      // The write may have been applied all the same, so the next one reads the store first.
      this.#isStale = true;
      throw unwritable(what, cause);
    }
  }

  async #reload(what: string): Promise<void> {
    let stored: Catalog;
    try {
      stored = await this.#store.load();
    } catch (cause) {
      throw Failure.plain(503, `Cannot ${what}: the store cannot be read`, { cause });
    }
    this.#isStale = false;
    const { controls: known } = this.#schema;
    const controls = controlsOf(stored.controls);
    this.#show(stored.deployments, keptControls(known, controls));
  }

  #others(than: string): Deployment[] {
    return [...this.#schema.deployments.values()].filter(({ id }) => id !== than);
  }

  #show(deployments: readonly Deployment[], controls: Controls = this.#schema.controls): void {
    const before = this.#schema.controls;
    this.#schema = new Schema(deployments, this.#schema.defaults, controls);
    for (const listener of this.#allListeners) listener();
    if (sameFlow(controls, before) && controls.pausedDeployments.size === 0) return;
    for (const listener of this.#listeners) listener();
  }
}
