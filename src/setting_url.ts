import type { Dial } from "./dial.ts";
import { Failure } from "./errors.ts";

/**
 * The address in a setting that this server sends requests to, by the same dial as requests to
 * endpoints. Throws `Failure` RT0002 for what is no http or https URL and for one with a user or
 * password, and RT0038 for one where the dial may not connect. No message quotes what was given: it may
 * hold credentials.
 */
export function settingUrl(
  setting: string,
  given: string,
  { refusal }: Pick<Dial, "refusal">,
): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Failure("RT0002", `Cannot read "${setting}": it is not an http or https URL`);
  }
  // No request would show them, as `fetch` of browsers refuses such addresses.
  if (url.username !== "" || url.password !== "") {
    throw new Failure("RT0002", `Cannot use "${setting}": its URL has a user or a password`);
  }
  const forbidden = refusal?.(url);
  if (!forbidden) return url;
  throw new Failure("RT0038", `cannot use "${setting}": ${forbidden.message}`, {
    cause: forbidden,
  });
}
