import type { DeploymentStore } from "../ports.ts";

/**
 * A store whose changes are told to others that read it, before they are acknowledged. `announce` resolves
 * when those that live know of the change.
 */
export function announcedStore(
  own: DeploymentStore,
  announce: () => Promise<void>,
): DeploymentStore {
  const told = async (change: Promise<void>) => {
    await change;
    await announce();
  };
  return {
    get version() {
      return own.version;
    },
    load: () => own.load(),
    save: (deployment, controls) => told(own.save(deployment, controls)),
    drop: (id) => told(own.drop(id)),
    control: (change) => told(own.control(change)),
  };
}

/** The same for those that are told: they read, and change nothing. `load`: as that of the store. */
export function readOnlyStore(load: DeploymentStore["load"]): DeploymentStore {
  const refuse = () =>
    Promise.reject(new Error("Only the one that has the deployments changes them"));
  return { load, save: refuse, drop: refuse, control: refuse };
}
