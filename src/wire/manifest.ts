import { create, StructError } from "superstruct";
import { Failure } from "../errors.ts";
import type { ServiceSchema } from "../model/schema.ts";
import { ALIAS, type Dialect, isReservedService, mediaType, OWN } from "../names.ts";
import { parseHandler } from "./manifest_handler.ts";
import { handlerOptions } from "./manifest_options.ts";
import { manifestShape, type RawManifest, type RawService } from "./manifest_shape.ts";
import { negotiate, PROTOCOL_MAX, PROTOCOL_MIN } from "../model/protocol.ts";

/** The manifest versions that are understood, all by one parser (service protocol §1.4). */
export const MANIFEST_VERSIONS = [1, 2, 3, 4] as const;

const INT32_MAX = 0x7fffffff;

/** A service as its endpoint describes it: a deployment and a revision make it a schema. */
export type ManifestService = Omit<ServiceSchema, "deployment" | "revision">;

/** What an endpoint announces at discovery (service protocol §1.5). */
export interface Manifest {
  readonly mode: "bidi" | "requestResponse";
  /** As announced; may reach beyond what this server speaks. */
  readonly minProtocol: number;
  readonly maxProtocol: number;
  /** Each name once. */
  readonly services: readonly ManifestService[];
}

const mediaTypes: ReadonlyMap<string, Dialect> = new Map(
  ([ALIAS, OWN] as const).flatMap((dialect) =>
    MANIFEST_VERSIONS.map((version) =>
      [mediaType(dialect, `endpointmanifest.v${version}+json`), dialect] as const
    )
  ),
);

/**
 * The `accept` header of discovery. The alias comes first: SDKs look for their own names, some by
 * substring, and take the highest version they know (service protocol §1.3).
 */
export function acceptManifests(): string {
  return [...mediaTypes.keys()].join(", ");
}

/**
 * The spelling an endpoint answered discovery in, or undefined when this is no manifest. Nothing
 * but the exact media type is one: no parameter, no other case (service protocol §1.2).
 */
export function manifestDialect(contentType: string): Dialect | undefined {
  return mediaTypes.get(contentType);
}

/** The `content-type` and `accept` of an attempt (service protocol §2.2). */
export function invocationMediaType(dialect: Dialect, protocolVersion: number): string {
  return mediaType(dialect, `invocation.v${protocolVersion}`);
}

/**
 * Reads a manifest of any version: `source` is the document, parsed, or the bytes of it. Unknown
 * fields are passed over; of services (and handlers) with one name the last counts.
 *
 * Throws `Failure` (service protocol §1.10, http-api §3.4): without code and status 500 for what is
 * no manifest; META0013 for a missing mode or bad protocol versions; META0012 when no protocol
 * version is in common; META0005 for a reserved service name; without code and status 400 for
 * handlers that contradict themselves or their service.
 */
export function parseManifest(source: unknown): Manifest {
  const raw = checkShape(source instanceof Uint8Array ? parseJson(source) : source);
  const { protocolMode, minProtocolVersion, maxProtocolVersion } = raw;
  if (!protocolMode) throw bad("missing protocol mode");
  checkVersions(minProtocolVersion, maxProtocolVersion);
  const services = raw.services.map((service) => [service.name, parseService(service)] as const);
  return {
    mode: protocolMode === "BIDI_STREAM" ? "bidi" : "requestResponse",
    minProtocol: minProtocolVersion,
    maxProtocol: maxProtocolVersion,
    services: [...new Map(services).values()],
  };
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (cause) {
    throw Failure.plain(500, `Cannot decode the manifest: ${(cause as Error).message}`, { cause });
  }
}

function checkShape(json: unknown): RawManifest {
  try {
    return create(json, manifestShape);
  } catch (cause) {
    throw Failure.plain(500, `Cannot decode the manifest: ${explain(cause)}`, { cause });
  }
}

/** `services.0.name: Expected …`. Cut: the message quotes what was found, however large. */
function explain(cause: unknown): string {
  // Quoting what was found is recursive, and what was found may be nested deeper than the stack.
  if (cause instanceof RangeError) return "it is nested too deep";
  if (!(cause instanceof StructError)) {
    // A value whose own `toString` is no function cannot be quoted either.
    if (cause instanceof TypeError) return "a value has the wrong type";
    throw cause;
  }
  const { path, message } = cause;
  const where = path.length > 0 ? `${path.join(".")}: ` : "";
  return `${where}${message.slice(0, 500)}`;
}

function checkVersions(min: number, max: number): void {
  if (min > INT32_MAX || max > INT32_MAX) {
    throw bad(`protocol version ${Math.max(min, max)} is above ${INT32_MAX}`);
  }
  if (min > max) throw bad(`minimum protocol version ${min} is above the maximum ${max}`);
  if (negotiate(min, max) === undefined) {
    throw new Failure(
      "META0012",
      `unsupported service protocol versions: [${min}, ${max}]. ` +
        `Supported versions by this runtime are [${PROTOCOL_MIN}, ${PROTOCOL_MAX}]`,
    );
  }
}

function bad(detail: string): Failure {
  return new Failure("META0013", `received a bad response from the SDK: ${detail}`);
}

const serviceTypes = {
  SERVICE: "service",
  VIRTUAL_OBJECT: "virtual_object",
  WORKFLOW: "workflow",
} as const;

function parseService(raw: RawService): ManifestService {
  const { name, documentation, metadata } = raw;
  if (isReservedService(name)) {
    throw new Failure("META0005", `Cannot register service '${name}': the name is reserved`);
  }
  const handlers = raw.handlers.map((one) => [one.name, parseHandler(one, raw)] as const);
  return {
    name,
    type: serviceTypes[raw.ty],
    public: !raw.ingressPrivate,
    options: handlerOptions(raw, `service '${name}'`),
    handlers: Object.fromEntries(handlers),
    ...(documentation !== undefined && { documentation }),
    ...(metadata !== undefined && { metadata }),
  };
}
