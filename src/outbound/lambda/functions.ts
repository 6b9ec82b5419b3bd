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
  /** URL of the function service, in place of the cloud's own. */
  readonly functionServiceUrl?: string | undefined;
  /** The largest answer of the function service that is read. */
  readonly answerBytesMax: number;
}

/**
 * What the function service takes in one call, 6 MB, less what the envelope needs: a body grows by
 * a third in it. A larger one is not sent.
 */
const BODY_BYTES_MAX = Math.floor((6 * 1024 * 1024 - 64 * 1024) * 3 / 4);

/** Functions of a cloud, as endpoints that are spoken to through the function service. */
export class Functions {
  readonly #settings: FunctionSettings;
  readonly #deps: { readonly dial: Dial; readonly clock: Clock };
  readonly #keyring: Keyring;

  constructor(settings: FunctionSettings, deps: { readonly dial: Dial; readonly clock: Clock }) {
    this.#settings = settings;
    this.#deps = deps;
    this.#keyring = new Keyring(settings, deps);
  }

  /** Throws `Failure` META0003 when there is nothing to sign calls with. */
  check(arn: string): void {
    if (this.#keyring.isEmpty) {
      throw new Failure("META0003", `error when calling '${arn}': ${MISSING}`);
    }
  }

  /**
   * Speaks to one function as if it were an endpoint: URLs begin with the ARN. Throws `BadArn`. What
   * it opens is request-response, and fails where a connection would.
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
