import type { Authenticator } from "../auth/authenticator.ts";
import type { CertificateOf } from "../auth/client_certificate.ts";
import type { Identity } from "../auth/grants.ts";
import type { Readiness } from "../model/readiness.ts";
import type { PartitionChoice } from "../model/ring.ts";
import type { Schema } from "../model/schema.ts";
import type { Tracer } from "../observe/tracer.ts";
import type { Invocations, Log, Random } from "../ports.ts";
import type { Caller } from "./cors.ts";
import type { HeaderPolicy } from "./header_policy.ts";
import type { Head } from "./headers.ts";
import type { RequestReader } from "./request_reader.ts";

/** What ingress is lent. */
export interface IngressOptions {
  readonly invocations: Invocations;
  /** The current schema. */
  readonly schema: () => Schema;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly random: Random;
  /** Where invocations without a key are made. Default: there is one partition. */
  readonly partitionChoice?: PartitionChoice;
  /** Longest body of a request: longer ones are refused with 413. Default: 32 MiB. */
  readonly bodyBytesMax?: number;
  /** Requests in progress at once; further ones are refused with 429. Default: no limit. */
  readonly requestsMax?: number;
  readonly log: Log;
  /** Reads requests at the least cost on this platform. Default: by Fetch alone. */
  readonly reader?: RequestReader;
  /** Makes spans of requests. Default: traces are passed on, and that is all. */
  readonly tracer?: Tracer | undefined;
  /** Whether requests with unknown query parameters are refused. Default: they are not. */
  readonly isStrict?: boolean;
  /** The server's own, for the description of the interface. Default: 0.0.0. */
  readonly version?: string;
  /** What keeps the process from being ready. Default: nothing. */
  readonly readiness?: Readiness;
  /** Checks tokens. Default: none is asked for. */
  readonly authenticator?: Authenticator | undefined;
  /** What the client of a request has shown. Default: nothing. */
  readonly certificateOf?: CertificateOf | undefined;
  /** As in `ingress.cors-origins`. Default: all. */
  readonly corsOrigins?: readonly string[];
  /** Which headers are journaled. Default: all. */
  readonly headers?: HeaderPolicy;
  /** Called for every answer. `route`: the kind of a `Route`, `preflight` or `other`. */
  readonly onResponse?: (route: string, status: number) => void;
}

/** The options with their defaults. */
export type Setup = Required<IngressOptions>;

/** One request on its way through ingress. */
export interface Inbound {
  readonly request: Request;
  readonly method: string;
  /** Raw path and query, in origin form. */
  readonly target: string;
  /** What follows the `?`, or nothing. */
  readonly search: string;
  readonly head: Head;
  readonly caller: Caller;
  /** One snapshot for the whole request. */
  readonly schema: Schema;
  /** Undefined: no token was asked for. */
  readonly identity?: Identity;
}
