/** One request that both servers get, in words that hold for either. */
export interface CompareRequest {
  /** Which port. Default: `admin`. On `ingress` the path follows the server's own prefix. */
  readonly port?: "admin" | "ingress";
  readonly method: string;
  /** `$name` is what an earlier request learned under that name. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, and announced as JSON. */
  readonly text?: string;
  /** Instead of `content-type: application/json`. Empty: none. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Learns the ids in the answer: of an invocation or a deployment. */
  readonly learns?: string;
  /** Made until its answer contains this. */
  readonly until?: string;
}

/** `POST /deployments {"uri":"$endpoint"}` and the like: what a request is called. */
export function nameOf(request: CompareRequest): string {
  const { method, path, contentType, port = "admin" } = request;
  const text = bodyOf(request) ?? "";
  const type = contentType === undefined ? "" : ` (${contentType || "no content-type"})`;
  const shown = text.length > 120 ? `${text.slice(0, 120)}…` : text;
  return `${port === "ingress" ? "ingress " : ""}${method} ${path} ${shown}`.trimEnd() + type;
}

/** What is sent, with names still to be filled in. */
export function bodyOf({ body, text }: CompareRequest): string | undefined {
  return text ?? (body === undefined ? undefined : JSON.stringify(body));
}

/** Requests of one method. */
export function many(
  method: string,
  paths: readonly string[],
  more: Partial<CompareRequest> = {},
): CompareRequest[] {
  return paths.map((path) => ({ method, path, ...more }));
}
