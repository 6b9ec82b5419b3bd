import { Failure } from "../../errors.ts";
import { type FunctionArn, parseFunctionArn } from "../../model/function_arn.ts";
import type { Lambda } from "../../model/schema.ts";
import type { Dial, DialRequest } from "../../dial.ts";
import type { Clock } from "../../ports.ts";
import { type CredentialSettings, Keyring, MISSING } from "./credentials.ts";
import { FunctionExchange } from "./function_exchange.ts";
import { encodePart } from "../percent.ts";
import { signedHeaders } from "./sign.ts";

export interface FunctionSettings extends CredentialSettings {
  /** URL of the function service, instead of the cloud's own. */
  readonly functionServiceUrl?: string | undefined;
  /** The largest response of the function service that is read. */
  readonly answerBytesMax: number;
}

/**
 * The limit of the function service for one call, 6 MB, less the size of the envelope: base 64
 * makes a body a third larger. A larger body is not sent.
 */
const BODY_BYTES_MAX = Math.floor((6 * 1024 * 1024 - 64 * 1024) * 3 / 4);

/** Functions of a cloud, called through the function service as if they were endpoints. */
export class Functions {
  readonly #settings: FunctionSettings;
  readonly #deps: { readonly dial: Dial; readonly clock: Clock };
  readonly #keyring: Keyring;

  constructor(settings: FunctionSettings, deps: { readonly dial: Dial; readonly clock: Clock }) {
    this.#settings = settings;
    this.#deps = deps;
    this.#keyring = new Keyring(settings, deps);
  }

  /** Throws `Failure` META0003 without credentials to sign calls with. */
  check(arn: string): void {
    if (this.#keyring.isEmpty) {
      throw new Failure("META0003", `error when calling '${arn}': ${MISSING}`);
    }
  }

  /**
   * A dial for one function: URLs begin with its ARN. Throws `BadArn`. Its exchanges are
   * request-response, and fail where a connection would.
   */
  dial(arn: string, lambda: Lambda): Dial {
    const place = parseFunctionArn(arn);
    const { dial } = this.#deps;
    return {
      open: (request, listener) =>
        new FunctionExchange({
          dial,
          request,
          path: request.url.slice(arn.length),
          wrap: (payload) => this.#wrap(payload, { place, lambda, request }),
          bodyBytesMax: BODY_BYTES_MAX,
          answerBytesMax: this.#settings.answerBytesMax,
        }, listener),
      close: () => Promise.resolve(),
    };
  }

  async #wrap(
    payload: Uint8Array,
    { place, lambda, request }: {
      readonly place: FunctionArn;
      readonly lambda: Lambda;
      readonly request: DialRequest;
    },
  ): Promise<DialRequest> {
    const { region } = place;
    const credentials = await this.#keyring.find(lambda.assumeRoleArn, place);
    const url = this.#url(place);
    const headers = {
      "content-type": "application/json",
      "content-length": String(payload.length),
      "x-amz-invocation-type": "RequestResponse",
    };
    const now = this.#deps.clock.now();
    const signed = signedHeaders({ method: "POST", url, headers, body: payload }, {
      credentials,
      region,
      service: "lambda",
      now,
    });
    const { connectTimeoutMs } = request;
    return { url, method: "POST", headers: signed, version: "h1", connectTimeoutMs };
  }

  #url({ arn, region, domain }: FunctionArn): string {
    const base = this.#settings.functionServiceUrl ?? `https://lambda.${region}.${domain}`;
    return `${base.replace(/\/$/, "")}/2015-03-31/functions/${encodePart(arn)}/invocations`;
  }
}
