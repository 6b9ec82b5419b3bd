import type { DeploymentStore, Log } from "../ports.ts";

/** A store of deployments that logs each change, without addresses, since these may have tokens. */
export function loggedDeployments(store: DeploymentStore, log: Log): DeploymentStore {
  return {
    get version() {
      return store.version ?? 0;
    },
    load: () => store.load(),
    save: async (deployment) => {
      await store.save(deployment);
      const services = deployment.services.map(({ name }) => name);
      log("info", "A deployment is stored", { deployment: deployment.id, services });
    },
    drop: async (id) => {
      await store.drop(id);
      log("info", "A deployment is deleted", { deployment: id });
    },
  };
}
