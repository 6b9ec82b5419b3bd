import { isIP } from "node:net";
import { networkInterfaces } from "node:os";

const ALL = new Set(["0.0.0.0", "::"]);

/** Whether this machine can listen on an address. A name may be one of its own, so it counts. */
export function hasAddress(host: string): boolean {
  if (isIP(host) === 0 || ALL.has(host)) return true;
  return Object.values(networkInterfaces()).flat().some((one) => one?.address === host);
}

/** All addresses of the network interfaces of this machine. */
export function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((some) =>
    (some ?? []).map(({ address }) => address)
  );
}
