import type { Config } from "../config.ts";
import { HeaderPolicy } from "./header_policy.ts";
import type { IngressOptions } from "./inbound.ts";

/** The limits of requests of callers, in bytes and requests. */
export function ingressSettings(
  config: Config,
): Pick<IngressOptions, "bodyBytesMax" | "requestsMax" | "isStrict" | "corsOrigins" | "headers"> {
  return {
    bodyBytesMax: config["ingress.request-size-limit"],
    requestsMax: config["ingress.concurrent-api-requests-limit"],
    isStrict: config["strict"],
    corsOrigins: config["ingress.cors-origins"],
    headers: new HeaderPolicy({
      drop: config["ingress.drop-headers"],
      redact: config["ingress.redact-headers"],
    }),
  };
}
