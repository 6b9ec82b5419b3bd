/**
 * The interface version we keep to: clients gate their features on it
 * (docs/spec/admin.md#version-and-health).
 */
const INTERFACE_VERSION = "1.7.12";

/** The admin API versions we answer: `/v2` to `/v4`; no prefix means the newest. */
export const apiVersions = { min: 2, max: 4 } as const;

/** Every experimental feature a client may ask about (docs/spec/admin.md#version-and-health). */
const FEATURES = [
  "vqueues",
  "protocol_v7",
  "unique_random_seeds",
  "invoker_yield",
  "kafka_scope",
  "scoped_virtual_objects",
  "scoped_state_table_migration",
  "scoped_promise_table_migration",
  "vqueues_async_refill",
  "vqueues_migration_skip_completed",
  "vqueue_obsolete_cleanup",
  "preflight_invocation_termination_retention",
] as const;

/** Those we have are switched on by a setting of the same name. */
export type Feature = typeof FEATURES[number];

/** The version of the interface with ours (`version`, as in `package.json`) behind it. */
export function ownVersion({ version }: { readonly version: string }): string {
  return `${INTERFACE_VERSION}-perdure.${version}`;
}

/**
 * What `GET /version` answers. `version`: ours, as in `package.json`. `ingressEndpoint`: the URL
 * under which browsers reach the ingress. `features`: those that are switched on.
 */
export function versionRecord(
  { version, ingressEndpoint, features = [] }: {
    readonly version: string;
    readonly ingressEndpoint: string;
    readonly features?: readonly Feature[];
  },
): Record<string, unknown> {
  return {
    version: ownVersion({ version }),
    min_admin_api_version: apiVersions.min,
    max_admin_api_version: apiVersions.max,
    ingress_endpoint: ingressEndpoint,
    features: Object.fromEntries(FEATURES.map((name) => [name, features.includes(name)])),
  };
}
