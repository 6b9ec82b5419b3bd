import type { EgressRule } from "../../config/egress_rule.ts";
import { ForbiddenAddress } from "../../dial.ts";
import { type DefaultRule, defaultRules } from "./defaults.ts";
import { IpAddress } from "./ip_address.ts";
import { OwnPorts } from "./own_ports.ts";
import { spelledAddresses } from "./spelled.ts";

export interface EgressOptions {
  /** The settings `outbound.allow` and `outbound.deny`. Absent: nothing. */
  readonly allow?: readonly EgressRule[];
  readonly deny?: readonly EgressRule[];
  /** The ports of this server. Absent: it has none. */
  readonly own?: OwnPorts;
}

/** Where a connection goes: a host as in a URL, and a port. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** A destination, read. */
interface Parsed extends Destination {
  /** The host without the dot at its end. */
  readonly name: string;
  /** Whether `outbound.allow` names the host. */
  readonly isNameAllowed: boolean;
}

type TargetKind = EgressRule["target"]["kind"];

/**
 * Decides where this server may connect for operators (docs/operate.md#outbound-requests). An entry of
 * `outbound.allow` lifts refusals of its own kind: a host those of hosts, a network those of networks.
 * DNS is not the operator's, so that an allowed name leads to no refused network. What `*` refuses,
 * each kind of entry lifts.
 */
export class Egress {
  readonly #allow: readonly EgressRule[];
  readonly #deny: readonly EgressRule[];
  readonly #own: OwnPorts;

  constructor({ allow = [], deny = [], own = new OwnPorts() }: EgressOptions = {}) {
    this.#allow = allow;
    this.#deny = deny;
    this.#own = own;
  }

  /**
   * Checks what can be known of a destination before its name is resolved. The host of a URL that has
   * been parsed: addresses are normalized there. Throws `ForbiddenAddress`.
   */
  checkHost({ host, port }: Destination): void {
    const address = IpAddress.parse(host);
    if (address) this.#checkAddress(address, this.#parse(host, port));
    else this.#checkName(this.#parse(host, port));
  }

  /**
   * Checks an address to which the host of a destination was resolved, after `checkHost`. Throws
   * `ForbiddenAddress`, also for a text that is no address.
   */
  checkResolved({ host, port }: Destination, resolved: string): void {
    const address = IpAddress.parse(resolved);
    if (!address) throw new ForbiddenAddress(`'${host}' resolves to no IP address`);
    this.#checkAddress(address, this.#parse(host, port));
  }

  /**
   * Checks a destination where names cannot be resolved, on workerd: also by the addresses that its name
   * spells, unless an entry allows the name. Throws `ForbiddenAddress`.
   */
  checkUnresolved(to: Destination): void {
    this.checkHost(to);
    if (IpAddress.parse(to.host)) return;
    const parsed = this.#parse(to.host, to.port);
    if (!parsed.isNameAllowed) this.#checkSpelled(parsed);
    const entry = this.#deniedAsAny(parsed);
    if (entry) throw refused(parsed.name, byEntry(entry), parsed.name);
  }

  #checkSpelled({ name, port }: Parsed): void {
    for (const address of spelledAddresses(name)) {
      const within = isWithin(address);
      if (this.#allows("network", within, port)) continue;
      const entry = this.#denied("network", within, port);
      const rule = byDefault("network", within);
      const why = entry ? byEntry(entry) : rule && `${rule.why} (${rule.rule.text})`;
      if (why !== undefined) throw refused(`${address.text}, which '${name}' spells,`, why, name);
    }
  }

  #parse(host: string, port: number): Parsed {
    const name = host.replace(/\.+$/, "").toLowerCase();
    return { host, port, name, isNameAllowed: this.#allows("name", isNamed(name), port) };
  }

  #checkName({ name, port, isNameAllowed }: Parsed): void {
    if (isNameAllowed) return;
    const entry = this.#denied("name", isNamed(name), port);
    if (entry) throw refused(name, byEntry(entry), name);
    const rule = byDefault("name", isNamed(name));
    if (rule) throw refused(name, rule.why, name);
  }

  #checkAddress(address: IpAddress, to: Parsed): void {
    const { text } = address;
    const { host, port, name } = to;
    const isLiteral = IpAddress.parse(host) !== undefined;
    const what = isLiteral ? text : `${text}, which '${host}' resolves to,`;
    const within = isWithin(address);
    if (this.#own.has(address, port) && !this.#allowsOwnPort(within, port)) {
      throw refused(what, `port ${port} is this server's own`, printed(text, port));
    }
    if (this.#allows("network", within, port)) return;
    const entry = this.#denied("network", within, port);
    if (entry) throw refused(what, byEntry(entry), text);
    const everything = this.#deniedAsAny(to);
    if (everything) throw refused(what, byEntry(everything), isLiteral ? text : name);
    const rule = byDefault("network", within);
    if (rule) throw refused(what, `${rule.why} (${rule.rule.text})`, text);
  }

  #allows(kind: TargetKind, isMeant: (rule: EgressRule) => boolean, port: number): boolean {
    return this.#allow.some((rule) =>
      rule.target.kind === kind && hasPort(rule, port) && isMeant(rule)
    );
  }

  /** A network without ports was hardly meant to include the ports of this server. */
  #allowsOwnPort(isMeant: (rule: EgressRule) => boolean, port: number): boolean {
    return this.#allow.some((rule) => rule.ports && hasPort(rule, port) && isMeant(rule));
  }

  /** The entry `*` that refuses a destination which no entry of its own kind allows. */
  #deniedAsAny({ port, isNameAllowed }: Parsed): EgressRule | undefined {
    if (isNameAllowed || this.#allows("any", () => true, port)) return undefined;
    return this.#denied("any", () => true, port);
  }

  #denied(
    kind: TargetKind,
    isMeant: (rule: EgressRule) => boolean,
    port: number,
  ): EgressRule | undefined {
    return this.#deny.find((rule) =>
      rule.target.kind === kind && hasPort(rule, port) && isMeant(rule)
    );
  }
}

function isNamed(name: string): (rule: EgressRule) => boolean {
  return ({ target }) =>
    target.kind === "name" &&
    (target.isBelow ? name.endsWith(`.${target.name}`) : name === target.name);
}

function isWithin(address: IpAddress): (rule: EgressRule) => boolean {
  return ({ target }) => target.kind === "network" && address.isIn(target.network);
}

function hasPort({ ports }: EgressRule, port: number): boolean {
  return !ports || ports[0] <= port && port <= ports[1];
}

function byDefault(
  kind: TargetKind,
  isMeant: (rule: EgressRule) => boolean,
): DefaultRule | undefined {
  return defaultRules.find(({ rule }) => rule.target.kind === kind && isMeant(rule));
}

function byEntry({ text }: EgressRule): string {
  return `entry "${text}" of outbound.deny`;
}

function printed(address: string, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function refused(what: string, why: string, entry: string): ForbiddenAddress {
  return new ForbiddenAddress(
    `${what} is refused: ${why}; an entry "${entry}" of outbound.allow permits it`,
  );
}
