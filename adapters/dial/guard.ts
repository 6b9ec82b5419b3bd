import dns from "node:dns";
import type http from "node:http";
import type { LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate } from "node:timers";
import { ForbiddenAddress } from "../../src/dial.ts";
import type { TlsOptionsFor } from "../tls/outgoing.ts";
import type { Destination, Egress } from "../../src/outbound/egress/egress.ts";

/** Asks for all addresses of a name, as `dns.lookup` does. */
export type Resolve = (
  name: string,
  options: dns.LookupAllOptions,
  callback: (error: Error | null, addresses: dns.LookupAddress[]) => void,
) => void;

/**
 * Checks each connection when it is opened: the host before, and the addresses that it resolves to
 * between resolving and connecting. The socket gets the checked addresses, so that no second answer of
 * the resolver is ever used.
 */
export class Guard {
  readonly #egress: Egress;
  readonly #resolve: Resolve;

  constructor(egress: Egress, resolve: Resolve = dns.lookup) {
    this.#egress = egress;
    this.#resolve = resolve;
  }

  /** Why there may be no connection to a host. Names are resolved later, by `lookup`. */
  refusal(to: Destination): ForbiddenAddress | undefined {
    return caught(() => this.#egress.checkHost(to));
  }

  /**
   * The option `lookup` of a socket to a destination. Addresses that are refused are left out; when
   * none is left, the socket fails with why.
   */
  lookup(to: Destination): LookupFunction {
    return (name, { all, ...options }, callback) => {
      this.#resolve(name, { ...options, all: true }, (error, addresses) => {
        if (error) return void callback(error, "", 0);
        let refusal: ForbiddenAddress | undefined;
        const checked = addresses.filter(({ address }) => {
          const why = caught(() => this.#egress.checkResolved(to, address));
          refusal ??= why;
          return why === undefined;
        });
        const [first] = checked;
        if (!first) callback(refusal ?? new Error(`'${name}' has no address`), "", 0);
        else if (all) callback(null, checked);
        else callback(null, first.address, first.family);
      });
    };
  }

  /**
   * Has an agent of `node:http` or `node:https` check each connection that it opens. `tls`: what
   * connections over TLS get besides.
   */
  watch<Agent extends http.Agent>(agent: Agent, tls?: TlsOptionsFor): Agent {
    const watched = agent as unknown as { createConnection: CreateConnection };
    const connect = watched.createConnection.bind(agent);
    watched.createConnection = (options, callback) => {
      const to = { host: options.host ?? "", port: Number(options.port) };
      const refusal = this.refusal(to);
      const more = { lookup: this.lookup(to), ...tls?.(to) };
      if (!refusal) return connect({ ...options, ...more }, callback);
      setImmediate(() => callback?.(refusal));
      return undefined;
    };
    return agent;
  }
}

type CreateConnection = (
  options: http.ClientRequestArgs,
  callback?: (error: Error) => void,
) => Duplex | undefined;

/** The host and port of a URL, as sockets take them. */
export function destinationOf(url: URL): Destination {
  const defaultPort = url.protocol === "https:" ? 443 : 80;
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || defaultPort) };
}

function caught(check: () => void): ForbiddenAddress | undefined {
  try {
    check();
    return undefined;
  } catch (cause) {
    if (cause instanceof ForbiddenAddress) return cause;
    throw cause;
  }
}
