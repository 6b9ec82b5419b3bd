import {
  changedControls,
  type ControlsChange,
  controlsOf,
  NOTHING_STORED,
} from "../../src/model/controls.ts";
import type { Controls } from "../../src/model/limits.ts";
import type { Deployment } from "../../src/model/schema.ts";
import type { Catalog, DeploymentStore } from "../../src/ports.ts";

/** Deployments and controls as a database keeps them: copies, never the objects that were handed over. */
export class MemoryCatalog implements DeploymentStore {
  readonly rows = new Map<string, string>();
  #controls: Controls = controlsOf(NOTHING_STORED);

  load(): Promise<Catalog> {
    const { rules, services, pausedDeployments, pausedQueues, ...kafka } = this.#controls;
    const controls = {
      version: rules.version,
      rules: rules.rules,
      services: [...services],
      deployments: [...pausedDeployments],
      queues: [...pausedQueues],
      clusters: [...kafka.clusters.values()],
      subscriptions: [...kafka.subscriptions.values()],
    };
    const deployments = [...this.rows.values()].map((row): Deployment => JSON.parse(row));
    return Promise.resolve({ deployments, controls: structuredClone(controls) });
  }

  async save(deployment: Deployment, change: ControlsChange = {}): Promise<void> {
    await this.write(() => {
      this.rows.set(deployment.id, JSON.stringify(deployment));
      this.#change(change);
    });
  }

  async drop(id: string): Promise<void> {
    await this.write(() => {
      this.rows.delete(id);
      this.#change({ deployments: new Map([[id, false]]) });
    });
  }

  async control(change: ControlsChange): Promise<void> {
    await this.write(() => this.#change(change));
  }

  /** Every write goes through here. */
  protected write(apply: () => void): Promise<void> {
    apply();
    return Promise.resolve();
  }

  #change(change: ControlsChange): void {
    this.#controls = changedControls(this.#controls, change);
  }
}
