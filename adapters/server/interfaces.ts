import type { Config } from "../../src/config.ts";
import { OwnPorts } from "../../src/outbound/egress/own_ports.ts";
import type { Log } from "../../src/ports.ts";
import { machineAddresses } from "../platform/addresses.ts";
import type { Handler, Listener } from "../platform/listener.ts";
import { OpenConnections } from "../platform/open_connections.ts";
import { portLimits } from "./port_limits.ts";
import type { ProcessTls } from "./port_tls.ts";
import type { Runtime } from "./runtime.ts";
import { listenFailure } from "./start_failure.ts";

/** What the app and the interfaces share. */
export interface Parts {
  readonly log: Log;
  readonly tls: ProcessTls;
  readonly traffic: Counted;
  /** The ports that are listened on. */
  readonly own: OwnPorts;
  /** The same, by the names of their interfaces. */
  readonly ports: Map<string, number>;
}

export function partsOf(log: Log, tls: ProcessTls): Parts {
  return { log, tls, traffic: new Map(), own: new OwnPorts(machineAddresses), ports: new Map() };
}

export interface Wanted extends Parts {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly handler: Handler;
  /** How many threads of this process listen at the same address. Absent: this one alone. */
  readonly listeners?: number;
}

/** An address that this process listens on, and for what. */
export interface OpenPort {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** The addresses that this process listens on. */
export function openPorts(config: Config, { ports }: Pick<Parts, "ports">): readonly OpenPort[] {
  return [...ports].map(([name, port]) => (
    { name, port, host: config[`${name as "ingress" | "admin" | "fleet"}.bind-address`] }
  ));
}

/** Serves an interface at its address in the settings. Rejects with `StartFailure` RT0004. */
export async function listenFor(
  what: "ingress" | "admin" | "fleet",
  wanted: Wanted,
): Promise<Listener> {
  const { runtime, config, log, handler, traffic, own, ports, listeners = 1 } = wanted;
  const tls = wanted.tls[what];
  const [host, port] = [config[`${what}.bind-address`], config[`${what}.bind-port`]];
  try {
    const open = runtime.isCounting ? countedAs(what, traffic) : undefined;
    const listener = await runtime.listen({
      ...{ host, port, handler, log, open, tls },
      isShared: listeners > 1,
      limits: portLimits(what, config, listeners),
    });
    const bound = Number(new URL(listener.url).port || (tls ? 443 : 80));
    own.add(host, bound);
    ports.set(what, bound);
    return listener;
  } catch (cause) {
    throw listenFailure({ host, port, what }, cause);
  }
}

/** The connections of each interface, by its name. */
export type Counted = Map<string, OpenConnections>;

/** Where the connections of an interface are counted. */
export function countedAs(what: string, traffic: Counted): OpenConnections {
  const open = new OpenConnections();
  traffic.set(what, open);
  return open;
}
