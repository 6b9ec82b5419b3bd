import { Failure } from "../errors.ts";
import type { Deployment, Schema, ServiceSchema } from "../model/schema.ts";
import { isReservedService } from "../names.ts";
import { quote } from "./refusals.ts";
import type { Discovered, DiscoveryTarget, ManifestService } from "./registration.ts";

/** The identity that a discovered endpoint gets as a deployment. */
export interface DeploymentIdentity extends Pick<Deployment, "id" | "metadata" | "createdAt"> {
  readonly schema: Schema;
  /** The revision of a service with this name. */
  readonly revision: (name: string) => number;
  /** Whether services may have another type than their latest revision. */
  readonly mayChangeTypes: boolean;
}

/**
 * A deployment made of what was asked and what was answered
 * (docs/spec/service-protocol.md#registration), in a step for each service (`slices.ts`). Throws
 * `Failure` META0005 for a service with a reserved name, META0006 for one of another type than its
 * latest revision, unless types may change.
 */
export function* deploymentOf(
  asking: DiscoveryTarget,
  found: Discovered,
  { id, metadata, createdAt, revision, ...allowed }: DeploymentIdentity,
): Generator<void, Deployment> {
  // Of services with the same name the last one wins (docs/spec/service-protocol.md#registration).
  const byName = new Map<string, ServiceSchema>();
  for (const service of found.manifest.services) {
    checkService(service, allowed);
    byName.set(service.name, adopt(service, id, revision(service.name)));
    yield;
  }
  return {
    id,
    ...spokenTo(asking, found),
    metadata,
    createdAt,
    services: [...byName.values()],
  };
}

/** Where a deployment is and how it is spoken to, as its endpoint has just shown. */
export function spokenTo(
  { uri, lambda, additionalHeaders, identityToken }: DiscoveryTarget,
  { manifest, httpVersion, dialect, sdkVersion }: Discovered,
): Omit<Deployment, "id" | "metadata" | "createdAt" | "services"> {
  const { mode, minProtocol, maxProtocol } = manifest;
  return {
    uri,
    ...(lambda && { lambda }),
    mode,
    httpVersion,
    dialect,
    additionalHeaders,
    ...(identityToken && { identityToken }),
    minProtocol,
    maxProtocol,
    ...(sdkVersion !== undefined && { sdkVersion }),
  };
}

function adopt(service: ManifestService, deployment: string, revision: number): ServiceSchema {
  return { ...service, deployment, revision };
}

/** The revision that comes after the latest of a service. */
export function nextRevision(schema: Schema, name: string): number {
  return (schema.latest(name)?.revision ?? 0) + 1;
}

function checkService(
  { name, type }: ManifestService,
  { schema, mayChangeTypes }: Pick<DeploymentIdentity, "schema" | "mayChangeTypes">,
): void {
  if (isReservedService(name)) {
    throw new Failure("META0005", `Cannot register service ${quote(name)}: its name is reserved`);
  }
  const known = schema.latest(name);
  if (!known || known.type === type || mayChangeTypes) return;
  throw new Failure(
    "META0006",
    `Cannot register service ${quote(name)} as ${type}: its previous revision is a ${known.type}`,
  );
}
