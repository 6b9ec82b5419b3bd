/**
 * Whether `listen` of this version of Node knows `reusePort` (https://nodejs.org/api/net.html): earlier
 * ones ignore it, and then only one thread can listen on a port.
 */
export function canReusePorts(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 23 || major === 23 && minor >= 1 || major === 22 && minor >= 12;
}
