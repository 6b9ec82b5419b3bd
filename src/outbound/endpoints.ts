import type { Config } from "../config.ts";
import type { Dial } from "../dial.ts";
import type { Clock, Log } from "../ports.ts";
import { Contention } from "./contention.ts";
import { Credentials } from "./credentials/credentials.ts";
import { IdTokens } from "./credentials/id_tokens.ts";
import { type ReadVariable, Variables } from "./credentials/variables.ts";
import { DISCOVER_LIMITS, type DiscoverOptions } from "./discover.ts";
import { openIdentity, type RequestIdentity } from "./identity/identity.ts";
import { Functions } from "./lambda/functions.ts";
import type { OutboundDeps, OutboundOptions } from "./options.ts";
import {
  endpointSettings,
  functionSettings,
  idTokenSettings,
  keySettings,
  outboundSettings,
} from "./settings.ts";

/** What the platform provides to call endpoints with. */
export interface EndpointDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly dial: Dial;
  /** Absent where there are no files. Rejects when one cannot be read. */
  readonly readTextFile?: ((path: string) => Promise<string>) | undefined;
  /** Absent: there are no variables. */
  readonly readVariable?: ReadVariable | undefined;
}

/** What attempts and discovery need to call an endpoint. */
export interface Endpoints {
  readonly outbound: OutboundOptions;
  /** Absent: requests are not signed. */
  readonly identity: RequestIdentity | undefined;
  readonly idTokens: IdTokens;
  /** What attempts depend on, but for what is of their partition. */
  readonly shared: Required<
    Pick<OutboundDeps, "functions" | "signer" | "credentials" | "contention">
  >;
  /** Stops polling the files of keys. */
  close(): void;
}

/** Opens it. Rejects with `Failure` RT0002 for a key that cannot be used. */
export async function openEndpoints(config: Config, deps: EndpointDeps): Promise<Endpoints> {
  const identity = await openIdentity(keySettings(config), deps);
  const idTokens = await IdTokens.open(idTokenSettings(config), deps);
  const variables = new Variables(endpointSettings(config).headerVariables, deps.readVariable);
  return {
    outbound: outboundSettings(config),
    identity,
    idTokens,
    shared: {
      functions: new Functions(functionSettings(config), deps),
      signer: identity?.signer,
      credentials: new Credentials(variables, idTokens),
      contention: new Contention(deps.clock),
    },
    close: () => {
      identity?.close();
      idTokens.close();
    },
  };
}

/** How endpoints are asked for their manifest, and for previews of values. */
export function discoverOptions(
  config: Config,
  { outbound, shared }: Endpoints,
  { dial, clock }: Pick<EndpointDeps, "dial" | "clock">,
): DiscoverOptions {
  const { partsMax } = endpointSettings(config);
  return { ...DISCOVER_LIMITS, ...outbound, partsMax, ...shared, dial, clock };
}
