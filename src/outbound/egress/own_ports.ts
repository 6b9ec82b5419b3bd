import { IpAddress } from "./ip_address.ts";

/** A port that this server listens on, and the addresses besides loopback at which it is reached. */
interface OwnPort {
  readonly port: number;
  readonly addresses: () => readonly IpAddress[];
}

/**
 * The ports of this server. An endpoint there would make the server call itself, and let operators of
 * the admin port reach what only the machine itself may reach.
 */
export class OwnPorts {
  readonly #ports: OwnPort[] = [];
  readonly #machine: () => readonly string[];

  /** `machine`: all addresses of this machine, asked for each check of a port of ours. */
  constructor(machine: () => readonly string[] = () => []) {
    this.#machine = machine;
  }

  /**
   * The server listens on this port of an address. On a wildcard or a host name it is taken to listen
   * on all addresses of the machine.
   */
  add(host: string, port: number): void {
    const bound = IpAddress.parse(host);
    const isOne = bound !== undefined && !/^(0\.0\.0\.0|::)$/.test(bound.text);
    this.#ports.push({ port, addresses: isOne ? () => [bound] : () => parsed(this.#machine()) });
  }

  has(address: IpAddress, port: number): boolean {
    return this.#ports.some((own) =>
      own.port === port && (address.isLoopback || own.addresses().some(isSame(address)))
    );
  }
}

function isSame(address: IpAddress): (other: IpAddress) => boolean {
  return (other) => address.equals(other);
}

function parsed(texts: readonly string[]): IpAddress[] {
  return texts.flatMap((text) => IpAddress.parse(text) ?? []);
}
