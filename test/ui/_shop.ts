import path from "node:path";
import { Endpoint, type Transport } from "../support/endpoint.ts";
import { freePorts } from "../support/child.ts";

const SCRIPT = path.join(import.meta.dirname, "_shop.mjs");

/** An endpoint of `_shop.mjs`, in its first or second version. */
export async function startShop(version: 1 | 2, transport: Transport = "h2"): Promise<Endpoint> {
  const [port = 0] = await freePorts(1);
  const endpoint = new Endpoint(transport, port, { script: SCRIPT });
  if (version === 2) endpoint.release("second");
  await endpoint.start();
  return endpoint;
}
