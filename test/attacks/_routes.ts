import { Buffer } from "node:buffer";
import { ACCESS } from "../../src/admin/access.ts";
import {
  type Chance,
  EVIL,
  fuzzHeaders,
  type FuzzRequest,
  fuzzRequest,
  fuzzValue,
} from "./_fuzz.ts";

/** A JSON schema or a part of an OpenAPI document, as far as it is read here. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema?: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** One route of a port, with what its OpenAPI document says of it. */
interface FuzzedRoute {
  readonly method: string;
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly operation: Operation;
}

/** A half of a character outside of the basic plane, which no URL can have. */
const LONE = /\p{Surrogate}/gu;

/** The routes of a port. A new route is among them by itself. */
export class Routes {
  readonly #document: Document;
  readonly #routes: readonly FuzzedRoute[];
  readonly #known: readonly string[];

  /** `document`: what `GET /openapi` of the port answers. `known`: names and ids that exist. */
  constructor(document: unknown, more: readonly string[], known: readonly string[]) {
    this.#document = document as Document;
    const described = Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
    );
    this.#routes = [...new Set([...described, ...more])].map((route) => {
      const [method = "", path = ""] = route.split(" ");
      const operation = this.#document.paths[path]?.[method.toLowerCase()] ?? {};
      return { method, path, operation };
    });
    this.#known = known;
  }

  get size(): number {
    return this.#routes.length;
  }

  /** A request that a route takes in most of its parts, or now and then one that none takes. */
  request(chance: Chance): FuzzRequest {
    if (chance.next() < 0.1) return fuzzRequest(chance);
    const { method: usual, path, operation } = chance.of(this.#routes);
    const method = chance.next() < 0.9
      ? usual
      : chance.of(["GET", "POST", "PUT", "PATCH", "DELETE"]);
    const filled = path.replace(/\{\w+\}/g, () => this.#segment(chance));
    const headers = fuzzHeaders(chance);
    const body = method === "GET" ? undefined : this.#body(chance, operation);
    if (body && chance.next() < 0.9) headers["content-type"] = "application/json";
    return { method, path: filled + this.#query(chance, operation), headers, body };
  }

  #segment(chance: Chance): string {
    const segment = chance.next() < 0.8 ? chance.of(this.#known) : chance.of(EVIL);
    return segment.length > 1_000 ? "k" : segment;
  }

  #query(chance: Chance, { parameters = [] }: Operation): string {
    const all = parameters.map((one) => this.#at<Parameter>(one)).filter(({ in: where }) =>
      where === "query"
    );
    const some = all.filter(() => chance.next() < 0.4).map(({ name, schema }) => {
      const value = chance.next() < 0.7 ? this.#value(chance, schema ?? {}, 0) : chance.of(EVIL);
      return `${name}=${encodeURIComponent(String(value).replace(LONE, "?")).slice(0, 200)}`;
    });
    if (chance.next() < 0.05) some.push(`${chance.of(["x", "force", "__proto__", "delay"])}=1`);
    return some.length === 0 ? "" : `?${some.join("&")}`;
  }

  #body(chance: Chance, { requestBody }: Operation): Uint8Array<ArrayBuffer> {
    const schema = Object.values(this.#at<typeof requestBody>(requestBody)?.content ?? {})[0]
      ?.schema;
    const value = chance.next() < 0.9 ? this.#value(chance, schema ?? {}, 0) : fuzzValue(chance, 0);
    const text = JSON.stringify(value) ?? "";
    const end = chance.next() < 0.95 ? text.length : chance.below(text.length + 1);
    return new Uint8Array(Buffer.from(text.slice(0, end)));
  }

  /** What a schema asks for, but for a part that is anything. */
  #value(chance: Chance, given: Schema, depth: number): unknown {
    const schema = this.#at<Schema>(given);
    if (depth > 6 || chance.next() < 0.04) return fuzzValue(chance, 2);
    const some = schema.anyOf ?? schema.oneOf;
    if (some) return this.#value(chance, chance.of(some), depth + 1);
    if (schema.enum) return chance.of(schema.enum);
    if (schema.const !== undefined) return schema.const;
    const type = typeof schema.type === "object" ? chance.of(schema.type) : schema.type;
    if (schema.properties) {
      const chosen = Object.entries(schema.properties).filter(() => chance.next() < 0.5);
      return Object.fromEntries(
        chosen.map(([name, one]) => [name, this.#value(chance, one, depth + 1)]),
      );
    }
    if (type === "array") {
      return Array.from(
        { length: chance.below(4) },
        () => this.#value(chance, schema.items ?? {}, depth + 1),
      );
    }
    return scalar(chance, type, this.#known);
  }

  #at<T>(part: T | undefined): T {
    const { $ref } = (part ?? {}) as { readonly $ref?: string };
    if ($ref === undefined) return part as T;
    const keys = $ref.slice(2).split("/").map((key) => key.replace(/~1/g, "/").replace(/~0/g, "~"));
    return keys.reduce(
      (at, key) => (at as Record<string, unknown>)[key],
      this.#document as unknown,
    ) as T;
  }
}

function scalar(chance: Chance, type: string | undefined, known: readonly string[]): unknown {
  switch (type) {
    case "boolean":
      return chance.next() < 0.5;
    case "integer":
      return chance.of([0, 1, 2, 100, -1, 2 ** 31]);
    case "number":
      return chance.of([0, 0.5, 1e308, -1]);
    case "string":
      return chance.next() < 0.6 ? chance.of(known) : chance.of(EVIL);
    case "null":
      return null;
    default:
      return fuzzValue(chance, 1);
  }
}

/** Routes that the documents leave out are in the table of access, or older than both. */
const INGRESS_MORE = [
  "POST /{service}/{handler}",
  "POST /{service}/{handler}/send",
  "POST /{service}/{key}/{handler}",
  "POST /restate/call/{service}/{handler}",
  "POST /restate/send/{service}/{key}/{handler}",
  "GET /restate/invocation/{id}/attach",
  "GET /restate/invocation/{service}/{handler}/{key}/output",
  "GET /restate/workflow/{service}/{key}/attach",
  "POST /restate/awakeables/{id}/resolve",
  "POST /restate/a/{id}/reject",
];

/** The routes of the admin API. `document`: its OpenAPI document. */
export const adminRoutes = (document: unknown, known: readonly string[]): Routes =>
  new Routes(
    document,
    Object.keys(ACCESS).map((route) => route.replace(/:(\w+)\+?/g, "{$1}")),
    known,
  );

/** The routes of the ingress. */
export const ingressRoutes = (document: unknown, known: readonly string[]): Routes =>
  new Routes(document, INGRESS_MORE, known);
