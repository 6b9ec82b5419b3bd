import { EVERY_MS, type Used, useGet } from "./hooks.ts";
import type { Int } from "./json.ts";

/** How often an invocation is attempted. Absent fields are inherited. */
export interface RetryPolicy {
  readonly initial_interval?: string;
  readonly exponentiation_factor?: number;
  readonly max_attempts?: number | null;
  readonly max_interval?: string;
  readonly on_max_attempts?: string;
}

/** How many may start in a period. */
export interface Rate {
  readonly count: number;
  readonly period: string;
  readonly burst?: number;
}

/** Options that services and handlers have alike. Of a handler: those it sets itself. */
interface Options {
  readonly documentation?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly public: boolean;
  readonly idempotency_retention?: string;
  readonly journal_retention?: string;
  readonly inactivity_timeout?: string;
  readonly abort_timeout?: string;
  readonly enable_lazy_state?: boolean;
  readonly retry_policy?: RetryPolicy;
  readonly concurrency?: number;
  readonly rate?: Rate;
}

export interface Handler extends Options {
  readonly name: string;
  /** Absent: of a plain service. */
  readonly ty?: "Exclusive" | "Shared" | "Workflow";
  readonly input_description?: string;
  readonly output_description?: string;
  readonly input_json_schema?: unknown;
  readonly output_json_schema?: unknown;
}

/** A revision of a service, as `GET /services` and `GET /deployments/{id}` answer it. */
export interface Service extends Options {
  readonly name: string;
  readonly ty: "Service" | "VirtualObject" | "Workflow";
  readonly handlers: readonly Handler[];
  readonly deployment_id: string;
  readonly revision: Int;
  readonly workflow_completion_retention?: string;
  readonly paused?: boolean;
  /** Options that have no effect or were cut. */
  readonly info?: readonly { readonly code: string; readonly message: string }[];
}

/**
 * The value of a header that is sent to an endpoint: the text itself, or an object that names where the
 * server takes the text from, such as `{"env": "NAME"}`.
 */
export type HeaderValue = string | Readonly<Record<string, unknown>>;

/** A header in words: `from NAME`. A text is no more than hidden: it may be a secret. */
export function headerText(value: HeaderValue): string {
  if (typeof value === "string") return "***";
  return `from ${Object.values(value).map(String).join(", ")}`;
}

/** A deployment. In a list its services are names and revisions. */
export interface Deployment<S = Pick<Service, "name" | "revision">> {
  readonly id: string;
  /** Absent: it is a function. */
  readonly uri?: string;
  readonly arn?: string;
  readonly protocol_type?: "BidiStream" | "RequestResponse";
  readonly http_version?: string;
  readonly additional_headers?: Readonly<Record<string, HeaderValue>>;
  /** The ID token that its requests carry, by its kind. */
  readonly auth?: Readonly<
    Record<string, { readonly audience?: string; readonly header?: string }>
  >;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly min_protocol_version: number;
  readonly max_protocol_version: number;
  readonly sdk_version?: string;
  readonly services: readonly S[];
  readonly paused?: boolean;
}

/** What types of services are called. */
export const TYPES: Readonly<Record<Service["ty"], string>> = {
  Service: "service",
  VirtualObject: "virtual object",
  Workflow: "workflow",
};

/** All services, in their latest revisions. */
export function useServices(): Used<{ readonly services: readonly Service[] }> {
  return useGet("services", { everyMs: EVERY_MS.overview, about: "configuration" });
}

/** All deployments, the oldest first. */
export function useDeployments(): Used<{ readonly deployments: readonly Deployment[] }> {
  return useGet("deployments", { everyMs: EVERY_MS.list, about: "configuration" });
}

/** Where a deployment is: its address without scheme and final slash, or its ARN. */
export function addressOf({ uri, arn, id }: Pick<Deployment, "uri" | "arn" | "id">): string {
  return uri?.replace(/^https?:\/\//, "").replace(/\/$/, "") ?? arn ?? id;
}

/** How it is talked to, such as `HTTP/2.0, both directions`. */
export function transportOf({ http_version, protocol_type, arn }: Deployment): string {
  const directions = protocol_type === "RequestResponse" ? "request and response" : "bidirectional";
  return arn === undefined ? `${http_version ?? "HTTP"}, ${directions}` : "function";
}

/** The range of protocol versions, such as `5–7`. */
export function protocolOf(deployment: Deployment): string {
  const { min_protocol_version: min, max_protocol_version: max } = deployment;
  return min === max ? String(min) : `${min}–${max}`;
}
