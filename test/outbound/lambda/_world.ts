import { afterEach } from "vitest";
import { nodeDial } from "../../../adapters/dial/dial.ts";
import type { Failure } from "../../../src/errors.ts";
import { discover, DISCOVER_LIMITS } from "../../../src/outbound/discover.ts";
import { Functions, type FunctionSettings } from "../../../src/outbound/lambda/functions.ts";
import type { DialFailure, DialHead } from "../../../src/dial.ts";
import { realClock } from "../_attempts.ts";
import { type Reply, type Seen, startCloud } from "./_function_service.ts";

export const arn = "arn:aws:lambda:eu-central-1:123456789012:function:shop:$LATEST";
export const role = "arn:aws:iam::123456789012:role/caller";
const own = { accessKeyId: "AKIDOWN", secretAccessKey: "own secret" };
export const manifest = {
  protocolMode: "REQUEST_RESPONSE",
  minProtocolVersion: 5,
  maxProtocolVersion: 7,
  services: [{ name: "Svc", ty: "SERVICE", handlers: [{ name: "run" }] }],
};
export const V4 = "application/vnd.restate.endpointmanifest.v4+json";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** The payload that a function returns, in the envelope of its runtime. */
export function envelope(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Reply {
  const answer = { statusCode: status, headers, body: base64(body), isBase64Encoded: true };
  return { body: JSON.stringify(answer) };
}

export async function cloudWith(
  answer: (seen: Seen) => Reply | Promise<Reply>,
  settings: Partial<FunctionSettings> = {},
) {
  const cloud = await startCloud(answer);
  const dial = nodeDial();
  const functions = new Functions({
    credentials: own,
    functionServiceUrl: cloud.url,
    roleServiceUrl: cloud.url,
    connectTimeoutMs: 1000,
    timeoutMs: 2000,
    answerBytesMax: 1024 * 1024,
    ...settings,
  }, { dial, clock: realClock });
  cleanups.push(() => dial.close(), () => cloud.close());
  const ask = (lambda = {}) =>
    discover({ uri: arn, lambda, useHttp11: false, additionalHeaders: { "X-Key": "k" } }, {
      ...DISCOVER_LIMITS,
      dial,
      clock: realClock,
      clusterName: "here",
      functions,
    });
  return { cloud, functions, ask };
}

interface Heard {
  readonly head?: DialHead;
  readonly body: string;
  readonly failure?: DialFailure;
}

/** Opens one exchange with the function and writes `said`. */
export function call(functions: Functions, said: Uint8Array[] = [], lambda = {}): Promise<Heard> {
  return new Promise((resolve) => {
    let head: DialHead | undefined;
    const chunks: Uint8Array[] = [];
    const finish = (failure?: DialFailure) =>
      resolve({
        body: Buffer.concat(chunks).toString(),
        ...(head && { head }),
        ...(failure && { failure }),
      });
    const exchange = functions.dial(arn, lambda).open({
      url: `${arn}/invoke/Svc/run`,
      method: "POST",
      headers: { "x-a": "1" },
      version: "h1",
      connectTimeoutMs: 1000,
    }, {
      head: (value) => head = value,
      chunk: (bytes) => chunks.push(bytes),
      end: () => finish(),
      failed: finish,
      drain: () => {},
    });
    for (const bytes of said) exchange.write(bytes);
    exchange.end();
  });
}

export const failure = (discovery: Promise<unknown>): Promise<Failure> =>
  discovery.then(() => Promise.reject(new Error("it was accepted")), (cause: Failure) => cause);
