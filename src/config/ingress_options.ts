import {
  byteSize,
  count,
  countOrUnlimited,
  duration,
  headerNames,
  optionalUrl,
  text,
} from "./kinds.ts";
import { option } from "./option.ts";

/** Settings of the interface for callers. */
export const ingressOptions = {
  "ingress.bind-address": option(text("an IP address or host name to listen on"), "127.0.0.1", {
    doc: "The address on which callers are served.",
  }),
  "ingress.bind-port": option(count(0, 65_535), "8080", {
    doc: "The port on which callers are served. 0: any free port.",
    env: ["INGRESS_PORT"],
  }),
  "ingress.advertised-address": option(optionalUrl(), "", {
    doc:
      "The URL at which browsers reach the ingress, which `GET /version`, OpenAPI documents and the " +
      "web UI name. Empty: `ingress.bind-address` and its port; of a wildcard such as 0.0.0.0 the host " +
      "under which the admin API was asked.",
  }),
  "ingress.drop-headers": option(headerNames(), "[]", {
    doc:
      "Headers of requests that are neither journaled nor given to handlers. `*` at the end of a " +
      "name is anything.",
  }),
  "ingress.redact-headers": option(headerNames(), '["proxy-authorization"]', {
    doc: "Headers whose values are journaled as `***`, unless a service or handler asks for them " +
      "(docs/security.md).",
  }),
  "ingress.request-size-limit": option(byteSize(), "32MiB", {
    doc: "The largest request body. A larger one is answered with 413.",
  }),
  "ingress.concurrent-api-requests-limit": option(countOrUnlimited(1), "unlimited", {
    doc: "Requests in progress at once. Further ones are answered with 429.",
  }),
  "ingress.drain-timeout": option(duration(), "5s", {
    doc: "How long requests in progress may take to end when the server stops.",
  }),
};
