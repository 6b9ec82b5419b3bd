/** One admin request on its way to a handler. The router fills in `params`, decoded. */
export interface Call {
  readonly method: string;
  /** Without the prefix of an API version. */
  readonly url: string;
  readonly apiVersion: number;
  readonly request: Request;
  params: Readonly<Record<string, string>>;
}

/** Answers, or throws a `Failure` that becomes the answer. */
export type Handle = (call: Call) => Response | Promise<Response>;

/** Paths, with `:name` for a segment, and what answers each method. GET answers HEAD as well. */
export type Routes = Readonly<
  Record<string, Readonly<Partial<Record<"GET" | "POST" | "PATCH" | "DELETE", Handle>>>>
>;
