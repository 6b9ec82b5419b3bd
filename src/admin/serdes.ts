import { Failure } from "../errors.ts";
import type { Deployment } from "../model/schema.ts";
import { readBytes } from "./body.ts";
import { deploymentId } from "./parameter.ts";
import { missing, quote } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import { dialectsOf, refuse } from "./reply.ts";
import type { Call, Handle, Routes } from "./route.ts";

/** Has the endpoint of a deployment apply one of its serdes. Rejects with a `Failure`. */
export type ApplySerde = (call: {
  readonly deployment: Deployment;
  readonly service: string;
  readonly operation: "decode" | "encode";
  readonly serde: string;
  readonly body: Uint8Array;
}) => Promise<Uint8Array>;

export interface SerdeDeps {
  readonly registry: Registry;
  readonly applySerde: ApplySerde;
}

/** Sent with every answer, so that no browser takes the bytes of an endpoint for a page. */
const TYPES = { decode: "application/json", encode: "application/octet-stream" } as const;

/**
 * The routes that make JSON of stored bytes and back, by the serdes of the endpoint
 * (docs/spec/service-protocol.md#serdes). They are for user interfaces, and not in the OpenAPI
 * document: the name of a serde is several segments of the path. Bodies may be announced as
 * anything or nothing.
 */
export function serdeRoutes({ registry, applySerde }: SerdeDeps): Routes {
  const applying = (operation: "decode" | "encode"): Handle => async (call) => {
    const { service, serde } = namesOf(call);
    const deployment = deploymentOf(registry, service, deploymentId.read(call));
    const body = await readBytes(call.request, call.bodyBytesMax);
    try {
      const answer = await applySerde({ deployment, service, operation, serde, body });
      return new Response(answer as BodyInit, { headers: { "content-type": TYPES[operation] } });
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      // Not logged: most of these are about the bytes, and the caller gets the reason.
      return refuse(cause, dialectsOf(call.request.headers));
    }
  };
  const base = "/internal/services/:service/serdes";
  return {
    [`${base}/decode/:serde+`]: { POST: applying("decode") },
    [`${base}/encode/:serde+`]: { POST: applying("encode") },
  };
}

/** A name that climbs out of the serdes' part of the endpoint's URL names nothing. */
function namesOf({ params }: Call): { readonly service: string; readonly serde: string } {
  const { service = "", serde = "" } = params;
  if (serde.split("/").some((part) => part === "" || part === "." || part === "..")) {
    throw Failure.plain(404, `Cannot find the serde ${quote(serde)}`);
  }
  return { service, serde };
}

/** Where a service is served: at the latest deployment, unless another one is asked for. */
function deploymentOf(registry: Registry, service: string, id: string | undefined): Deployment {
  const schema = registry.schema();
  const wanted = id ?? schema.latest(service)?.deployment;
  if (wanted === undefined) throw missing("service", service);
  const deployment = registry.get(wanted);
  if (!deployment) throw missing("deployment", wanted);
  if (!schema.at(wanted, service)) throw missing("service", service);
  return deployment;
}
