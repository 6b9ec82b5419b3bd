import { afterAll, afterEach, beforeAll, describe, test } from "vitest";
import { type Answer, register } from "./_ask.ts";
import { isDifference } from "./_differences.ts";
import { type SdkEndpoint, type SdkOptions, type SdkTransport, startSdk } from "./_sdk.ts";
import { startTarget, type Target, type TargetOptions } from "./_target.ts";

/** A server with an endpoint, registered. */
export interface World {
  readonly target: Target;
  readonly endpoint: SdkEndpoint;
  readonly transport: SdkTransport;
  /** A name no other test has: of a key, a side effect. */
  readonly id: string;
  /** A service as this endpoint names it. */
  readonly named: (service: string) => string;
}

export type Check = (world: World) => Promise<void>;

export interface SuiteOptions {
  /** Settings of the server, the same for all of the suite. */
  readonly options?: TargetOptions;
  /** `publickeyv1_…`: the endpoints demand signed requests. */
  readonly identityKeys?: readonly string[];
  /** One check at a time: for those that end the server or count what others do. */
  readonly isSequential?: boolean;
  /** Default: both, bidirectional and request-response. */
  readonly transports?: readonly SdkTransport[];
  /** How long a check may take, in milliseconds. Default: `TEST_MS`. */
  readonly testMs?: number;
}

const TEST_MS = 20_000;

/**
 * Checks by number and words (docs/spec/service-protocol.md#checklist), each over each transport,
 * with one server and one endpoint a transport. A check whose number stands in `DIFFERENCES` is
 * skipped for the reference.
 */
export function protocolSuite(
  name: string,
  checks: Readonly<Record<string, Check>>,
  suite: SuiteOptions = {},
): void {
  const { options = {}, transports = ["h2", "h1"], identityKeys, isSequential = false } = suite;
  const { testMs = TEST_MS } = suite;
  describe(name, { concurrent: !isSequential }, () => {
    let target: Target | undefined;
    beforeAll(async () => {
      target = await startTarget(options);
    }, 30_000);
    afterAll(async () => await target?.close());
    for (const transport of transports) {
      describe(
        transport,
        () =>
          keep(checks, { transport, testMs, ...(identityKeys ? { identityKeys } : {}) }, () => {
            if (!target) throw new Error("The server did not start");
            return target;
          }),
      );
    }
  });
}

function keep(
  checks: Readonly<Record<string, Check>>,
  { testMs, ...sdk }: SdkOptions & { readonly testMs: number },
  targetOf: () => Target,
): void {
  let endpoint: SdkEndpoint | undefined;
  let count = 0;
  const { transport } = sdk, suffix = `_${transport}`;
  beforeAll(async () => {
    endpoint = await startSdk({ ...sdk, suffix });
    await registered(targetOf(), endpoint);
  }, 30_000);
  afterAll(async () => await endpoint?.close());
  afterEach(({ task }) => {
    if (task.result?.state === "fail") tell(task.name, targetOf(), endpoint);
  });
  for (const [name, check] of Object.entries(checks)) {
    test.skipIf(isDifference(name))(name, async () => {
      if (!endpoint) throw new Error("The endpoint did not start");
      const id = `${transport}-${++count}`;
      const named = (service: string) => `${service}${suffix}`;
      await check({ target: targetOf(), endpoint, transport, id, named });
    }, testMs);
  }
}

/** Registers an endpoint of the SDK. Throws unless it is new. Answers the deployment's id. */
export async function registered(target: Target, endpoint: SdkEndpoint): Promise<string> {
  const isHttp1 = endpoint.transport.startsWith("h1");
  const { status, body } = await register(target, endpoint.url, { use_http_11: isHttp1 });
  if (status === 201) return (body as { id: string }).id;
  throw new Error(`Registration answered ${status}: ${JSON.stringify(body)}`);
}

function tell(name: string, target: Target, endpoint: SdkEndpoint | undefined): void {
  const log = target.logs().split("\n").slice(-15).join("\n");
  console.error(
    `${name}: the server said\n${log}\nthe endpoint said\n${endpoint?.logs().slice(-2000)}`,
  );
}

/** The invocation that answered. Throws when the answer names none. */
export function idOf(target: Target, { headers, status, body }: Answer): string {
  const id = headers.get(target.header("id"));
  if (id === null) throw new Error(`No id in an answer of ${status}: ${JSON.stringify(body)}`);
  return id;
}
