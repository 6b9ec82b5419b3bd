import { printDeploymentId, printSubscriptionId } from "../model/id.ts";
import type { Random } from "../ports.ts";

/** A new id for a deployment. `now`: milliseconds since the epoch. */
export function drawDeploymentId(now: number, random: Random): string {
  return printDeploymentId(drawUlid(now, random));
}

/** A new id for a subscription. `now`: milliseconds since the epoch. */
export function drawSubscriptionId(now: number, random: Random): string {
  return printSubscriptionId(drawUlid(now, random));
}

/**
 * A ULID: 48 bits of time, most significant first, then chance
 * (docs/spec/service-protocol.md#invocation-ids).
 */
function drawUlid(now: number, random: Random): Uint8Array {
  const bytes = new Uint8Array(16);
  let rest = now;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes.set(random(10), 6);
  return bytes;
}
