import { Failure } from "../errors.ts";
import type { Deployment, Schema } from "../model/schema.ts";
import { changedAlike } from "./change_service.ts";
import { deploymentOf, nextRevision, spokenTo } from "./deployment_of.ts";
import { quote } from "./refusals.ts";
import type { Discovered, DiscoveryTarget, Update } from "./registration.ts";

/** How the endpoint of an updated deployment is asked: as before, but for what changes. */
export function updatedTarget(known: Deployment, update: Update): DiscoveryTarget {
  const { uri, lambda } = update.address ?? known;
  const token = update.identityToken ?? known.identityToken;
  const isH1 = !known.lambda && known.httpVersion === "HTTP/1.1";
  return {
    uri,
    ...(lambda && { lambda }),
    useHttp11: update.useHttp11 ?? isH1,
    additionalHeaders: update.additionalHeaders ?? known.additionalHeaders,
    ...(token && token !== "none" && { identityToken: token }),
  };
}

/**
 * A deployment after an update in place: same id, same age. It keeps the services it has, or takes
 * those that were found, with the revisions they have (docs/spec/admin.md#update-of-a-deployment).
 * What an operator changed about a service stays, unless the services are replaced. Throws
 * `Failure`: META0016 for what may not change, META0005 for a reserved name. In a step for each
 * service (`slices.ts`).
 */
export function* updated(
  known: Deployment,
  { target, found, services: which, schema }: {
    readonly target: DiscoveryTarget;
    readonly found: Discovered;
    readonly services: Update["services"];
    readonly schema: Schema;
  },
): Generator<void, Deployment> {
  checkProtocols(known, found);
  if (which !== "replace") checkKept(known, found);
  const { id, metadata, createdAt, services } = known;
  if (which === "keep") {
    return { id, ...spokenTo(target, found), metadata, createdAt, services };
  }
  const had = new Map(services.map((one) => [one.name, one]));
  const revision = (name: string) => had.get(name)?.revision ?? nextRevision(schema, name);
  const mayChangeTypes = which === "replace";
  const being = { id, metadata, createdAt, schema, revision, mayChangeTypes };
  const deployment = yield* deploymentOf(target, found, being);
  if (which === "replace") return deployment;
  const kept = deployment.services.map((one) => changedAlike(one, had.get(one.name)));
  return { ...deployment, services: kept };
}

/** Invocations are pinned to a version: no update takes theirs away. */
function checkProtocols(known: Deployment, { manifest }: Discovered): void {
  const { minProtocol: min, maxProtocol: max } = manifest;
  if (min === known.minProtocol && max === known.maxProtocol) return;
  throw refused(
    `the supported protocol versions would change from ${known.minProtocol}..=` +
      `${known.maxProtocol} to ${min}..=${max}`,
  );
}

/** What is served now must still be served, as what it was. */
function checkKept({ services }: Deployment, { manifest }: Discovered): void {
  const found = new Map(manifest.services.map((one) => [one.name, one]));
  for (const { name, type, handlers } of services) {
    const now = found.get(name);
    if (!now) throw refused(`the service ${quote(name)} would disappear`);
    if (now.type !== type) {
      throw refused(`the service ${quote(name)} would change from ${type} to ${now.type}`);
    }
    const gone = Object.keys(handlers).find((one) => !Object.hasOwn(now.handlers, one));
    if (gone !== undefined) {
      throw refused(`the handler ${quote(`${name}/${gone}`)} would disappear`);
    }
  }
}

function refused(what: string): Failure {
  return new Failure(
    "META0016",
    `Cannot update the deployment in place: ${what}; register it under a new address instead`,
  );
}
