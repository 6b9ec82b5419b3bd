import { bench } from "vitest";
import { permit, type PermitOptions } from "../../src/admin/access.ts";
import { cookieOf, sessionsOf } from "../support/sessions.ts";
import { authenticatorOf, shows } from "../support/tokens.ts";

const URL = "http://127.0.0.1:9070/deployments";
const authenticator = await authenticatorOf(["viewer"]);
const sessions = sessionsOf(authenticator);
const begun = await sessions.begin(new Request(URL), { token: "viewer", path: "/" });
const cookie = cookieOf(new Response(null, { headers: { "set-cookie": begun.cookie } }));

/** A hundred requests, whose headers have not been read. */
const requests = (headers: Record<string, string>) =>
  Array.from({ length: 100 }, () => new Request(URL, { headers }));

async function permitAll(all: readonly Request[], options: PermitOptions): Promise<void> {
  for (const request of all) {
    await permit(request, "viewer", { authenticator, ...options, known: () => {} });
  }
}

const withToken = requests(shows("viewer")), withSession = requests({ cookie });

bench("100 requests with a token, without sessions", () => permitAll(withToken, {}));

bench("100 requests with a token, beside sessions", () => permitAll(withToken, { sessions }));

bench("100 requests with a session", () => permitAll(withSession, { sessions }));
