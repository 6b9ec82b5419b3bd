/**
 * The oldest and the newest service protocol version that this server speaks
 * (docs/spec/service-protocol.md#versions).
 */
export const PROTOCOL_MIN = 5;
export const PROTOCOL_MAX = 7;

/**
 * The preferred version, used if the deployment supports it: the default of the reference server
 * (docs/spec/service-protocol.md#versions).
 */
export const PROTOCOL_PREFERRED = 6;

/**
 * The version for a new invocation on a deployment that announced versions `min` to `max`, or
 * undefined when there is none in common. It is the highest version not above `preferred`; a
 * deployment that only knows later versions gets its lowest
 * (docs/spec/service-protocol.md#versions).
 */
export function negotiate(
  min: number,
  max: number,
  preferred: number = PROTOCOL_PREFERRED,
): number | undefined {
  const lowest = Math.max(min, PROTOCOL_MIN);
  const highest = Math.min(max, PROTOCOL_MAX);
  if (lowest > highest) return undefined;
  return Math.max(lowest, Math.min(highest, preferred));
}
