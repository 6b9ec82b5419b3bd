import http from "node:http";
import type { AddressInfo } from "node:net";
import { exportPKCS8, generateKeyPair, jwtVerify, SignJWT } from "jose";

const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
export const EMAIL = "robot@project.iam.example";
export const GOOGLE = "https://accounts.issuer.example";

/** A token endpoint, as that of service accounts is: it verifies assertions, and answers with ID tokens. */
export interface TokenIssuer {
  readonly url: string;
  /** The JSON key of its service account. */
  readonly account: string;
  /** The private key within. */
  readonly pem: string;
  /** What its tokens are verified with. */
  readonly publicKey: CryptoKey;
  /** Tokens that it has made. */
  readonly made: readonly string[];
  /** What it answers in place of a token. */
  outage: { readonly status: number; readonly body: string } | undefined;
  /** Requests that have come. */
  asked: number;
  close(): void;
}

/** Starts one on a free port. */
export async function startIssuer(): Promise<TokenIssuer> {
  const [account, own] = await Promise.all([
    generateKeyPair("RS256", { extractable: true }),
    generateKeyPair("RS256"),
  ]);
  const made: string[] = [];
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => body += chunk);
    request.on("end", async () => {
      issuer.asked++;
      const signing = { account: account.publicKey, own: own.privateKey, url };
      const { status, text, token } = await answerTo(new URLSearchParams(body), issuer, signing);
      if (token !== undefined) made.push(token);
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const pem = await exportPKCS8(account.privateKey);
  const members = { type: "service_account", client_email: EMAIL, private_key_id: "key-1" };
  const issuer: TokenIssuer = {
    ...{ url, pem, made, publicKey: own.publicKey, asked: 0, outage: undefined },
    account: JSON.stringify({ ...members, private_key: pem, token_uri: url }),
    close: () => server.close(),
  };
  return issuer;
}

interface Signing {
  readonly account: CryptoKey;
  readonly own: CryptoKey;
  readonly url: string;
}

async function answerTo(
  form: URLSearchParams,
  { outage }: TokenIssuer,
  { account, own, url }: Signing,
): Promise<{ readonly status: number; readonly text: string; readonly token?: string }> {
  const assertion = form.get("assertion") ?? "";
  if (outage) return { ...outage, text: outage.body.replace("ASSERTION", assertion) };
  try {
    if (form.get("grant_type") !== GRANT) throw new Error("another grant");
    const wanted = { issuer: EMAIL, audience: url, requiredClaims: ["exp", "target_audience"] };
    const { payload, protectedHeader } = await jwtVerify(assertion, account, wanted);
    if (protectedHeader.kid !== "key-1") throw new Error("another key");
    const token = await new SignJWT({ email: EMAIL })
      .setProtectedHeader({ alg: "RS256" })
      .setIssuer(GOOGLE)
      .setAudience(String(payload["target_audience"]))
      .setIssuedAt()
      .setExpirationTime("1 h")
      .sign(own);
    return { status: 200, text: JSON.stringify({ id_token: token }), token };
  } catch (cause) {
    return { status: 400, text: JSON.stringify({ error: "invalid_grant", why: String(cause) }) };
  }
}

/** A new private key, as PEM. */
export async function newSigningKey(alg: "EdDSA" | "RS256" | "ES256"): Promise<{ pem: string }> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { pem: await exportPKCS8(privateKey) };
}
