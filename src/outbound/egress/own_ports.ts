import { IpAddress } from "./ip_address.ts";

/** A port that this server listens on. */
interface OwnPort {
  readonly port: number;
  isAt(address: IpAddress): boolean;
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
    const isBound = (address: IpAddress) =>
      isOne ? address.equals(bound) : parsed(this.#machine()).some((one) => address.equals(one));
    const isReachedHere = !isOne || bound.isLoopback;
    const isAt = (address: IpAddress) => isReachedHere && address.isLoopback || isBound(address);
    this.#ports.push({ port, isAt });
  }

  has(address: IpAddress, port: number): boolean {
    return this.#ports.some((own) => own.port === port && own.isAt(address));
  }
}

function parsed(texts: readonly string[]): IpAddress[] {
  return texts.flatMap((text) => IpAddress.parse(text) ?? []);
}
