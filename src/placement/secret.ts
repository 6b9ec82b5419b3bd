/**
 * Whether a request has the secret: `same`, `none`, or `other`. In constant time: it takes as long for a
 * secret that differs in its first character as for one that differs in its last.
 */
export function checkSecret(authorization: string | undefined, secret: string): SecretCheck {
  if (authorization === undefined || !authorization.startsWith(SCHEME)) return "none";
  const shown = authorization.slice(SCHEME.length);
  let difference = shown.length ^ secret.length;
  for (let i = 0; i < shown.length; i++) {
    difference |= shown.charCodeAt(i) ^ secret.charCodeAt(i % secret.length);
  }
  return difference === 0 ? "same" : "other";
}

export type SecretCheck = "same" | "none" | "other";

const SCHEME = "Bearer ";
