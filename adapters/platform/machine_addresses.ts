import os from "node:os";

/** All addresses of the network interfaces of this machine. None where they cannot be read. */
export function machineAddresses(): string[] {
  try {
    return Object.values(os.networkInterfaces()).flatMap((some) =>
      (some ?? []).map(({ address }) => address)
    );
  } catch {
    // Deno without permission, or a container that may not ask.
    return [];
  }
}
