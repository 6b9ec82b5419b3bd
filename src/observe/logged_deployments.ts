import type { ControlsChange } from "../model/controls.ts";
import type { DeploymentStore, Log } from "../ports.ts";

/**
 * A store of deployments and controls that logs each change, without addresses, since these may have
 * tokens.
 */
export function loggedDeployments(store: DeploymentStore, log: Log): DeploymentStore {
  return {
    get version() {
      return store.version ?? 0;
    },
    load: () => store.load(),
    save: async (deployment, controls) => {
      await store.save(deployment, controls);
      const services = deployment.services.map(({ name }) => name);
      log("info", "A deployment is stored", { deployment: deployment.id, services });
    },
    drop: async (id) => {
      await store.drop(id);
      log("info", "A deployment is deleted", { deployment: id });
    },
    control: async (change) => {
      await store.control(change);
      const { clusters, subscriptions, ...limits } = change;
      if (clusters || subscriptions) log("info", "Kafka is set up", kafkaFields(change));
      if (Object.keys(limits).length > 0) {
        log("info", "Limits or pauses are changed", changeFields(limits));
      }
    },
  };
}

/** Names of what changes, and ids, without options: some are secret. */
function kafkaFields({ clusters, subscriptions }: ControlsChange) {
  const changes = (all: ReadonlyMap<string, unknown>) =>
    Object.fromEntries(
      [...all].map(([name, one]) => [name, one === undefined ? "removed" : "set"]),
    );
  return {
    ...(clusters && { clusters: changes(clusters) }),
    ...(subscriptions && { subscriptions: changes(subscriptions) }),
  };
}

/** Names of what changes: of rules only how many, since there may be thousands. */
function changeFields({ book, services, deployments, queues }: ControlsChange) {
  return {
    ...(book && { rules: book.rules.size, version: book.version }),
    ...(services && { services: [...services.keys()] }),
    ...(deployments && { deployments: Object.fromEntries(deployments) }),
    ...(queues && { queues: Object.fromEntries(queues) }),
  };
}
