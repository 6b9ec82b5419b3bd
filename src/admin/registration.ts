import type { AdditionalHeaders, IdentityToken } from "../model/endpoint_credentials.ts";
import type { Deployment, Lambda, ServiceSchema } from "../model/schema.ts";
import type { Dialect } from "../names.ts";

/** Where an endpoint is and how it is asked, its address normalized by `parseAddress`. */
export interface DiscoveryTarget {
  /** A URL, or the ARN of a function. */
  readonly uri: string;
  /** There when it is a function. */
  readonly lambda?: Lambda;
  readonly useHttp11: boolean;
  /** Sent with discovery and with every attempt. Lower-case names. */
  readonly additionalHeaders: AdditionalHeaders;
  /** The token that requests carry. Absent: none. */
  readonly identityToken?: IdentityToken;
}

/** What a registration asks for (docs/spec/admin.md#registration-of-deployments). */
export interface Registration extends DiscoveryTarget {
  readonly metadata: Readonly<Record<string, string>>;
  /** Overwrites a deployment with the same address; allows what `breaking` allows. */
  readonly force: boolean;
  /** Allows services to change their type. */
  readonly breaking: boolean;
  /** Discovers and checks, and stores nothing. */
  readonly dryRun: boolean;
}

/** What came of a registration. `unchanged`: the address is known and still serves the same. */
export interface Registered {
  readonly outcome: "created" | "overwritten" | "unchanged";
  readonly deployment: Deployment;
}

/** What an update in place asks for (docs/spec/admin.md#update-of-a-deployment). Absent: as it is. */
export interface Update {
  readonly address?: Pick<DiscoveryTarget, "uri" | "lambda">;
  readonly useHttp11?: boolean;
  /** Instead of all there were. */
  readonly additionalHeaders?: AdditionalHeaders;
  /** `none`: requests carry no token then. */
  readonly identityToken?: IdentityToken | "none";
  /**
   * Which services the deployment has then. `keep`: those it has. `extend`: those it has and what is
   * new at the endpoint. `replace`: those of the endpoint, whatever it served before.
   */
  readonly services: "keep" | "extend" | "replace";
  /** Whether it is paused then. Absent: as it is. */
  readonly paused?: boolean;
  /** Discovers and checks, and stores nothing. */
  readonly dryRun: boolean;
}

/** What an endpoint says about itself, before it is a deployment. */
export interface Manifest {
  readonly mode: Deployment["mode"];
  readonly minProtocol: number;
  readonly maxProtocol: number;
  readonly services: readonly ManifestService[];
}

export type ManifestService = Omit<ServiceSchema, "deployment" | "revision">;

/** How an endpoint answered discovery. */
export interface Discovered {
  readonly manifest: Manifest;
  readonly httpVersion: Deployment["httpVersion"];
  readonly dialect: Dialect;
  readonly sdkVersion?: string;
}

/** Asks an endpoint for its manifest. Rejects with a `Failure` META0003, 12, 13, 14, 15, 18 or 19. */
export type Discover = (request: DiscoveryTarget) => Promise<Discovered>;
