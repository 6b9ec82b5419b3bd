import type { Config } from "../config.ts";
import { prefersProtocol7 } from "../outbound/settings.ts";
import { ingressEndpointOf } from "./ingress_endpoint.ts";
import type { KafkaAdminOptions } from "./kafka/kafka_admin.ts";
import type { RegistryOptions } from "./registry.ts";
import type { AdminOptions } from "./router.ts";
import type { Feature } from "./version.ts";

/**
 * What the admin interface reports of this server, and the limits of its requests, in bytes and
 * requests. `isOneOrigin`: the ingress is served at the same address. `ingressPort`: where it listens,
 * once it does; the setting may leave that to the system.
 */
export function adminSettings(
  config: Config,
  { isOneOrigin = false, ingressPort }: {
    readonly isOneOrigin?: boolean;
    readonly ingressPort?: () => number | undefined;
  } = {},
): Pick<
  AdminOptions,
  | "clusterName"
  | "bodyBytesMax"
  | "requestsMax"
  | "isStrict"
  | "ingressEndpoint"
  | "features"
  | "allowedHosts"
  | "audit"
> {
  return {
    clusterName: config["cluster-name"],
    bodyBytesMax: config["admin.request-size-limit"],
    requestsMax: config["admin.concurrent-api-requests-limit"],
    isStrict: config["strict"],
    allowedHosts: config["admin.allowed-hosts"],
    audit: {
      retentionMs: config["audit.retention"],
      rowsMax: config["audit.rows"],
      refusedMax: config["audit.refused-limit"],
      withQueries: config["audit.queries"],
    },
    ingressEndpoint: ingressEndpointOf({
      advertised: config["ingress.advertised-address"],
      host: config["ingress.bind-address"],
      port: () => ingressPort?.() ?? config["ingress.bind-port"],
      isSecure: config["tls.cert-file"] !== "" && config["tls.interfaces"] !== "admin",
      isOneOrigin,
    }),
    features: features(config),
  };
}

/** Experimental features that are switched on (docs/spec/admin.md#version-and-health). */
function features(config: Config): Feature[] {
  const found: Feature[] = [];
  if (config["experimental-enable-vqueues"]) found.push("vqueues");
  if (prefersProtocol7(config)) found.push("protocol_v7");
  if (config["experimental-enable-scoped-virtual-objects"]) found.push("scoped_virtual_objects");
  if (config["experimental-enable-kafka-scope"]) found.push("kafka_scope");
  return found;
}

/** What sidecars show and may send, in bytes. */
export function sidecarSettings(
  config: Config,
): Pick<KafkaAdminOptions, "token" | "valueBytesMax" | "isScopeRead"> {
  return {
    token: config["kafka.token"],
    valueBytesMax: config["ingress.request-size-limit"],
    isScopeRead: config["experimental-enable-kafka-scope"] && config["experimental-enable-vqueues"],
  };
}

/** How much operators may do at once, and set. */
export function registrySettings(
  config: Config,
): Pick<
  RegistryOptions,
  "registrationsMax" | "rulesMax" | "pausedQueuesMax" | "clustersMax" | "subscriptionsMax"
> {
  return {
    registrationsMax: config["admin.concurrent-registrations-limit"],
    rulesMax: config["admin.rules-limit"],
    pausedQueuesMax: config["admin.paused-queues-limit"],
    clustersMax: config["kafka.clusters-limit"],
    subscriptionsMax: config["kafka.subscriptions-limit"],
  };
}
