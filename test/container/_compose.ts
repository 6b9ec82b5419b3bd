import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { ROOT } from "./_image.ts";

export const COMPOSE = path.join(ROOT, "adapters/container/compose.yaml");

/** What is looked at of a service of a compose file. */
export interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly init?: boolean;
  readonly entrypoint?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly [string, ...string[]] };
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** The compose file as it stands: variables in it are not replaced. */
export function readCompose(): Compose {
  // No package of ours reads YAML; the one that checks our OpenAPI document does, and brings this.
  const require = createRequire(import.meta.resolve("@seriousme/openapi-schema-validator"));
  const { parse } = require("yaml") as {
    parse: (text: string, options: { readonly merge: boolean }) => Compose;
  };
  return parse(readFileSync(COMPOSE, "utf8"), { merge: true });
}

/** The servers of ours in it, by name. */
export function serversOf({ services }: Compose): readonly (readonly [string, Service])[] {
  return Object.entries(services).filter(([name]) => name.startsWith("perdure"));
}

/** The words that a service runs, with the folder of secrets where it is on this machine. */
export function entrypointOf(service: Service, secrets: string): readonly [string, ...string[]] {
  const [first = "", ...others] = (service.entrypoint ?? [])
    .map((word) => word.replaceAll("$$", "$").replaceAll("/secrets", secrets));
  return [first, ...others];
}
