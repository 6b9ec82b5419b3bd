import { printDeploymentId } from "../model/id.ts";
import type { Random } from "../ports.ts";

/**
 * A ULID: 48 bits of time, most significant first, then chance
 * (docs/spec/service-protocol.md#invocation-ids).
 */
export function drawDeploymentId(now: number, random: Random): string {
  const bytes = new Uint8Array(16);
  let rest = now;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes.set(random(10), 6);
  return printDeploymentId(bytes);
}
