import type { Transport } from "./_script_server.ts";

/** What a scripted endpoint says of itself. Durations in milliseconds, as in the manifest. */
export interface Manifest {
  readonly transport?: Transport;
  readonly mode?: "BIDI_STREAM" | "REQUEST_RESPONSE";
  readonly min?: number;
  readonly max?: number;
  /** Options of all its services, by their names in manifest version 4. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Two retries a second at most make tests slow; these make them quick. */
const QUICK = { retryPolicyInitialInterval: 20, retryPolicyMaxInterval: 200 };
const anything = {
  input: { required: false, contentType: "*/*" },
  output: { contentType: "text/plain" },
};

/**
 * A plain service `name` with handler `run`, and an object `nameObj` with handlers `run`
 * (exclusive) and `look` (shared), that take and give anything.
 */
export function manifestOf(name: string, manifest: Manifest): Readonly<Record<string, unknown>> {
  const { mode = "BIDI_STREAM", min = 5, max = 7, options } = manifest;
  const more = { ...QUICK, ...options };
  const run = { name: "run", ...anything };
  return {
    protocolMode: mode,
    minProtocolVersion: min,
    maxProtocolVersion: max,
    services: [
      { name, ty: "SERVICE", handlers: [run], ...more },
      {
        name: `${name}Obj`,
        ty: "VIRTUAL_OBJECT",
        handlers: [{ ...run, ty: "EXCLUSIVE" }, { ...run, name: "look", ty: "SHARED" }],
        ...more,
      },
    ],
  };
}

export const manifestType = (version: number) =>
  `application/vnd.restate.endpointmanifest.v${version}+json`;
