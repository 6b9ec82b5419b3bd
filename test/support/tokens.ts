import { Authenticator } from "../../src/auth/authenticator.ts";
import { digestOf, parseTokenList } from "../../src/auth/token_list.ts";

/** Checks tokens that are named after their roles: `viewer` has the role viewer. */
export async function authenticatorOf(
  roles: readonly string[],
  now: () => number = Date.now,
): Promise<Authenticator> {
  const lines = await Promise.all(
    roles.map(async (role) => `${role} ${await digestOf(role)} ${role}`),
  );
  const tokens = parseTokenList(lines.join("\n"));
  return new Authenticator({
    tokens,
    wrongTokens: { perAddress: 1000, total: 1000 },
    now,
    log: () => {},
  });
}

/** The header that shows a token. */
export function shows(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
