import type { Deployment } from "../model/schema.ts";
import type { Manifest } from "./registration.ts";

/**
 * Whether an endpoint announces what its deployment has stored: mode, protocol range, and every
 * service with its handlers and options, before any operator's changes. Order does not matter, SDK
 * and HTTP versions do not either: they are not in the manifest.
 */
export function sameManifest(deployment: Deployment, manifest: Manifest): boolean {
  return fingerprint(deployment) === fingerprint(manifest);
}

function fingerprint({ mode, minProtocol, maxProtocol, services }: Manifest): string {
  // Named and assigned: a stored service carries its deployment and revision, an announced does not.
  const byName = Object.fromEntries(
    services.map((one) => [one.name, {
      ...one,
      ...one.announced,
      announced: undefined,
      deployment: undefined,
      revision: undefined,
    }]),
  );
  return JSON.stringify({ mode, minProtocol, maxProtocol, services: byName }, sorted);
}

/** A replacer that puts the keys of every object in order. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => left < right ? -1 : 1),
  );
}
