import type { DeploymentStore, Log } from "../ports.ts";

/** A store of deployments that tells the log what changed. Addresses may hold tokens: no address. */
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
