import { signal } from "@preact/signals";
import { ALIAS } from "../../names.ts";
import { api } from "./client.ts";

/** What `GET /version` answers. */
export interface Version {
  readonly version: string;
  readonly min_admin_api_version: number;
  readonly max_admin_api_version: number;
  readonly ingress_endpoint?: string | null;
  readonly features?: Readonly<Record<string, boolean>>;
}

export const server = signal<Version | undefined>(undefined);

/** What pages ask for before they show something that not every server can do. */
export interface Abilities {
  /** It says why an invocation waits, in columns of its own (`waiting_reason`, `queue_position`). */
  readonly hasWaitingColumns: boolean;
  /** Rules, counters and queues. */
  readonly hasLimits: boolean;
  /** Clusters and subscriptions of Kafka as SQL tables. */
  readonly hasKafkaTables: boolean;
  /** Services and deployments can be paused, and services limited. */
  readonly hasControls: boolean;
  /** Completes promises of workflows, as their handlers do. */
  readonly hasPromiseRoutes: boolean;
  /** Sends hints of changes (`GET /internal/ui/events`). */
  readonly hasEvents: boolean;
}

/** Whether it is this project's server, which has tables and columns that the reference lacks. */
export function isPerdure(): boolean {
  return server.value?.version.includes("-perdure.") ?? false;
}

/** What the server at hand can do. */
export function abilities(): Abilities {
  const isOurs = isPerdure();
  return {
    hasWaitingColumns: isOurs,
    hasLimits: isOurs || hasScopes(),
    hasKafkaTables: isOurs,
    hasControls: isOurs,
    hasPromiseRoutes: isOurs,
    hasEvents: isOurs,
  };
}

/** Whether calls may have a scope. Without, the server refuses those that have. */
export function hasScopes(): boolean {
  return server.value?.features?.["vqueues"] === true;
}

/** What it cannot do, as sentences for people. */
export function missing(): string[] {
  const { hasWaitingColumns, hasLimits, hasKafkaTables, hasControls, hasEvents } = abilities();
  const { hasPromiseRoutes } = abilities();
  return [
    ...(hasWaitingColumns ? [] : ["It does not say why an invocation waits: the UI derives it."]),
    ...(hasLimits ? [] : ["It has no limits: flow control is off."]),
    ...(hasKafkaTables ? [] : ["It has no tables of Kafka's lag."]),
    ...(hasControls ? [] : ["It cannot pause a service or deployment."]),
    ...(hasPromiseRoutes ? [] : ["It has no route that completes a promise of a workflow."]),
    ...(hasEvents ? [] : ["It sends no hints of changes: the UI asks at intervals."]),
  ];
}

/** What the page says of the server: nothing, where a token is needed. */
function told(): string | undefined {
  return document.querySelector<HTMLMetaElement>('meta[name="server"]')?.content;
}

/** Whether the page said what the server is, which then asks for no token. */
export function isTold(): boolean {
  return told() !== undefined;
}

/**
 * Learns the version: from the page, which has it at once unless a token is needed, or by asking. Throws
 * `ApiError`.
 */
export async function readServer(): Promise<void> {
  const known = told();
  server.value = known === undefined ? await api<Version>("version") : JSON.parse(known) as Version;
}

/**
 * Where a handler is called: the ingress URL of a target, such as `call/Greeter/greet`. The spelling
 * is the one that every server understands.
 */
export function ingressUrl(path: string): string {
  const base = server.value?.ingress_endpoint ?? "http://localhost:8080/";
  return new URL(`${ALIAS}/${path}`, base.endsWith("/") ? base : `${base}/`).href;
}
