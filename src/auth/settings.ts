import type { Config } from "../config.ts";
import type { AuthSettings } from "./open_auth.ts";

/** Which tokens are accepted, and which of the two interfaces need one. */
export function authSettings(config: Config): AuthSettings {
  const text = (
    name:
      | "auth.tokens-file"
      | "auth.client-address-header"
      | "auth.jwt.issuer"
      | "auth.jwt.audience",
  ) => config[name] || undefined;
  return {
    adminToken: config["admin.token"] || undefined,
    ingressToken: config["ingress.token"] || undefined,
    tokens: config["auth.tokens"] || undefined,
    tokensFile: text("auth.tokens-file"),
    wrongTokens: {
      perAddress: config["auth.wrong-tokens-limit-per-address"],
      total: config["auth.wrong-tokens-limit"],
    },
    clientAddressHeader: text("auth.client-address-header"),
    sessionLifetimeMs: config["auth.session-lifetime"],
    jwt: {
      issuer: text("auth.jwt.issuer"),
      audience: text("auth.jwt.audience"),
      keys: config["auth.jwt.keys"] || undefined,
      rolesClaim: config["auth.jwt.roles-claim"],
      clockSkewMs: config["auth.jwt.clock-skew"],
    },
  };
}

/** Whether requests need a token, by interface. */
export function isClosed(
  { adminToken, ingressToken, tokens, tokensFile, jwt }: AuthSettings,
): { readonly admin: boolean; readonly ingress: boolean } {
  const isListed = tokens !== undefined || tokensFile !== undefined || jwt.issuer !== undefined;
  return {
    admin: isListed || adminToken !== undefined,
    ingress: isListed || ingressToken !== undefined,
  };
}
