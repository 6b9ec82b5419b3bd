import type { Deployment } from "../model/schema.ts";
import type { Manifest, ManifestService } from "./registration.ts";

/**
 * Whether an endpoint announces what its deployment has stored: mode, protocol range, and every
 * service with its handlers and options, before any operator's changes. Order does not matter, SDK
 * and HTTP versions do not either: they are not in the manifest. In a step for each service
 * (`slices.ts`).
 */
export function* sameManifest(
  deployment: Deployment,
  { mode, minProtocol, maxProtocol, services }: Manifest,
): Generator<void, boolean> {
  if (mode !== deployment.mode) return false;
  if (minProtocol !== deployment.minProtocol || maxProtocol !== deployment.maxProtocol) {
    return false;
  }
  // Of services with the same name the last one counts, as in `deploymentOf`.
  const announced = new Map(services.map((one) => [one.name, one]));
  if (announced.size !== deployment.services.length) return false;
  for (const service of deployment.services) {
    const now = announced.get(service.name);
    if (!now || fingerprint(now) !== fingerprint(service)) return false;
    yield;
  }
  return true;
}

/** Named and assigned: a stored service carries its deployment and revision, an announced does not. */
function fingerprint(service: ManifestService & Partial<Deployment["services"][number]>): string {
  const { announced, deployment: _, revision: __, ...rest } = service;
  return JSON.stringify({ ...rest, ...announced }, sorted);
}

/** A replacer that puts the keys of every object in order. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => left < right ? -1 : 1),
  );
}
