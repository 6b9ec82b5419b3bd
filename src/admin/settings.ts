import type { Config } from "../config.ts";
import type { RegistryOptions } from "./registry.ts";
import type { AdminOptions } from "./router.ts";

/** What the admin interface reports of this server, and the limits of its requests, in bytes and requests. */
export function adminSettings(
  config: Config,
): Pick<
  AdminOptions,
  "clusterName" | "bodyBytesMax" | "requestsMax" | "isStrict" | "ingressEndpoint" | "features"
> {
  return {
    clusterName: config["cluster-name"],
    bodyBytesMax: config["admin.request-size-limit"],
    requestsMax: config["admin.concurrent-api-requests-limit"],
    isStrict: config["strict"],
    // Where browsers reach this server.
    ingressEndpoint: `http://${config["ingress.bind-address"]}:${config["ingress.bind-port"]}/`,
    // Experimental features that are switched on (docs/spec/admin.md#version-and-health).
    features: config["experimental-enable-protocol-v7"] ? ["protocol_v7"] : [],
  };
}

/** How many registrations there may be at once. */
export function registrySettings(config: Config): Pick<RegistryOptions, "registrationsMax"> {
  return { registrationsMax: config["admin.concurrent-registrations-limit"] };
}
