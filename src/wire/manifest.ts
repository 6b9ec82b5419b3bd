import { create, type Struct, StructError } from "superstruct";
import { Failure } from "../errors.ts";
import type { HandlerSchema, ServiceSchema } from "../model/schema.ts";
import { ALIAS, type Dialect, isReservedService, mediaType, OWN } from "../names.ts";
import { parseHandler } from "./manifest_handler.ts";
import { handlerOptions } from "./manifest_options.ts";
import {
  handlerShape,
  manifestShape,
  type RawHandler,
  type RawManifest,
  type RawService,
  serviceShape,
} from "./manifest_shape.ts";
import { negotiate, PROTOCOL_MAX, PROTOCOL_MIN } from "../model/protocol.ts";

/**
 * The manifest versions that are understood, all by one parser
 * (docs/spec/service-protocol.md#manifests).
 */
export const MANIFEST_VERSIONS = [1, 2, 3, 4] as const;

const INT32_MAX = 0x7fffffff;

/** A service as its endpoint describes it: a deployment and a revision make it a schema. */
export type ManifestService = Omit<ServiceSchema, "deployment" | "revision">;

/** What an endpoint announces at discovery (docs/spec/service-protocol.md#manifests). */
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
 * substring, and take the highest version they know (docs/spec/service-protocol.md#discovery).
 */
export function acceptManifests(): string {
  return [...mediaTypes.keys()].join(", ");
}

/**
 * The spelling an endpoint answered discovery in, or undefined when this is no manifest. Nothing
 * but the exact media type is one: no parameter, no other case
 * (docs/spec/service-protocol.md#discovery).
 */
export function manifestDialect(contentType: string): Dialect | undefined {
  return mediaTypes.get(contentType);
}

/** The `content-type` and `accept` of an attempt (docs/spec/service-protocol.md#requests). */
export function invocationMediaType(dialect: Dialect, protocolVersion: number): string {
  return mediaType(dialect, `invocation.v${protocolVersion}`);
}

/**
 * Reads a manifest of any version: `source` is the document, parsed, or the bytes of it. Unknown
 * fields are passed over; of services (and handlers) with one name the last counts. Yields after
 * each service and handler, so that a large one need not be read in one block (`slices.ts`).
 * `partsMax`: services and handlers, together.
 *
 * Throws `Failure` (docs/spec/service-protocol.md#registration-errors): without code and status 500
 * for what is no manifest; META0013 for too many parts, a missing mode or bad protocol versions;
 * META0012 when no protocol version is in common; META0005 for a reserved service name; without
 * code and status 400 for handlers that contradict themselves or their service.
 */
export function* readManifest(source: unknown, partsMax: number): Generator<void, Manifest> {
  const json = source instanceof Uint8Array ? parseJson(source) : source;
  checkSize(json, partsMax);
  const raw = yield* readShape(json);
  const { protocolMode, minProtocolVersion, maxProtocolVersion } = raw;
  if (!protocolMode) throw bad("missing protocol mode");
  checkVersions(minProtocolVersion, maxProtocolVersion);
  const services = new Map<string, ManifestService>();
  for (const service of raw.services) services.set(service.name, yield* readService(service));
  return {
    mode: protocolMode === "BIDI_STREAM" ? "bidi" : "requestResponse",
    minProtocol: minProtocolVersion,
    maxProtocol: maxProtocolVersion,
    services: [...services.values()],
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

/** Counted before anything else is looked at: checking the shape of what is refused is not free. */
function checkSize(json: unknown, partsMax: number): void {
  const services = listIn(json, "services");
  let handlers = 0;
  for (const service of services) handlers += listIn(service, "handlers").length;
  if (services.length + handlers <= partsMax) return;
  throw bad(
    `the manifest has ${services.length} services and ${handlers} handlers, which is more than ` +
      `${partsMax} in all ('admin.deployment-parts-limit'). Serve them as several deployments, ` +
      `or raise the limit`,
  );
}

function listIn(json: unknown, name: "services" | "handlers"): readonly unknown[] {
  const found = typeof json === "object" && (json as Record<string, unknown> | null)?.[name];
  return Array.isArray(found) ? found : [];
}

function* readShape(json: unknown): Generator<void, RawManifest> {
  const manifest = shaped(json, manifestShape, "");
  const services: RawService[] = [];
  for (const [i, one] of manifest.services.entries()) {
    const service = shaped(one, serviceShape, `services.${i}.`);
    const handlers: RawHandler[] = [];
    for (const [j, handler] of service.handlers.entries()) {
      handlers.push(shaped(handler, handlerShape, `services.${i}.handlers.${j}.`));
      yield;
    }
    services.push({ ...service, handlers });
    yield;
  }
  return { ...manifest, services };
}

/** `where`: the path of `json` within the manifest, with a dot at its end unless it is all of it. */
function shaped<T, S>(json: unknown, shape: Struct<T, S>, where: string): T {
  try {
    return create(json, shape);
  } catch (cause) {
    throw Failure.plain(500, `Cannot decode the manifest: ${explain(cause, where)}`, { cause });
  }
}

/** `services.0.name: Expected …`. Cut: the message quotes what was found, however large. */
function explain(cause: unknown, within: string): string {
  // Quoting what was found is recursive, and what was found may be nested deeper than the stack.
  if (cause instanceof RangeError) return "it is nested too deep";
  if (!(cause instanceof StructError)) {
    // A value whose own `toString` is no function cannot be quoted either.
    if (cause instanceof TypeError) return "a value has the wrong type";
    throw cause;
  }
  const { path, message } = cause;
  const place = (within + path.join(".")).replace(/\.$/, "");
  const where = place === "" ? "" : `${place}: `;
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

function* readService(raw: RawService): Generator<void, ManifestService> {
  const { name, documentation, metadata } = raw;
  if (isReservedService(name)) {
    throw new Failure("META0005", `Cannot register service '${name}': the name is reserved`);
  }
  const handlers: [string, HandlerSchema][] = [];
  for (const one of raw.handlers) {
    handlers.push([one.name, parseHandler(one, raw)]);
    yield;
  }
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
