import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect } from "vitest";
import { register, request, value } from "./_ask.ts";
import { startSdk } from "./_sdk.ts";
import { type Check, protocolSuite } from "./_suite.ts";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * `publickeyv1_…`: how the operator of an endpoint is given a server's key
 * (docs/spec/service-protocol.md#signed-requests).
 */
function publicName(pem: string): string {
  const { x = "" } = createPublicKey(createPrivateKey(pem)).export({ format: "jwk" });
  const bytes = Buffer.from(x, "base64url");
  let number = BigInt(`0x${bytes.toString("hex")}`), text = "";
  for (; number > 0n; number /= 58n) text = `${ALPHABET[Number(number % 58n)]}${text}`;
  // Of 256 keys, one begins with a zero, which is no digit of the number.
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return `publickeyv1_${"1".repeat(zeros)}${text}`;
}

const newKey = () =>
  generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }) as string;
const pem = newKey(), name = publicName(pem), stranger = publicName(newKey());
const folder = mkdtempSync(path.join(tmpdir(), "identity-"));
const file = path.join(folder, "key.pem");
writeFileSync(file, pem);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isSigned: Check = async ({ target, endpoint, named, id }) => {
  const key = `${id}/ü 1`;
  await value(target, `${named("Plain")}/echo`, id);
  await value(target, `${named("Store")}/${encodeURIComponent(key)}/put`, { a: 1 });
  const requests = endpoint.attempts();
  const paths = ["/discover", `/invoke/${named("Plain")}/echo`, `/invoke/${named("Store")}/put`];
  expect(requests.map((one) => one.path)).toEqual(paths);
  for (const { headers, path: aud, openedAt } of requests) {
    expect(headers["x-restate-signature-scheme"]).toBe("v1");
    const jwt = headers["x-restate-jwt-v1"] ?? "";
    const [head = "", body = "", signature = ""] = jwt.split(".");
    const parsed = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(parsed(head)).toEqual({ typ: "JWT", alg: "EdDSA", kid: name });
    const signed = Buffer.from(`${head}.${body}`), key25519 = createPublicKey(pem);
    expect(verify(null, signed, key25519, Buffer.from(signature, "base64url"))).toBe(true);
    const claims = parsed(body);
    expect(claims).toMatchObject({ aud, ...(aud.includes("Store") ? { sub: key } : {}) });
    expect(Object.hasOwn(claims, "sub")).toBe(aud.includes("Store"));
    expect(Math.abs(claims.iat - openedAt / 1000)).toBeLessThan(5);
    expect([claims.nbf, claims.exp]).toEqual([claims.iat - 60, claims.iat + 60]);
  }
};

/** Behind a path the audience is still the endpoint's own. */
const belowPath: Check = async ({ target, transport, id }) => {
  const suffix = `_${id.replaceAll("-", "_")}`;
  const endpoint = await startSdk({ transport, suffix, identityKeys: [stranger, name] });
  try {
    const more = { use_http_11: transport === "h1" };
    expect((await register(target, `${endpoint.url}/a/b`, more)).status).toBe(201);
    expect(await value(target, `Plain${suffix}/echo`, id)).toBe(id);
    const { path: asked } = endpoint.attempts().at(-1) ?? {};
    expect(asked).toBe(`/a/b/invoke/Plain${suffix}/echo`);
  } finally {
    await endpoint.close();
  }
};

const previews: Check = async ({ target, endpoint, named }) => {
  const [service, serde] = [named("Shouting"), "decode/greet/input"];
  const url = `${target.admin}/internal/services/${service}/serdes/${serde}`;
  expect((await request("POST", url, { body: "HELLO" })).status).toBe(200);
  expect(endpoint.attempts().at(-1)?.path).toBe(`/serdes/${service}/${serde}`);
};

const otherKey: Check = async ({ target, transport, id }) => {
  const suffix = `_${id.replaceAll("-", "_")}`;
  const endpoint = await startSdk({ transport, suffix, identityKeys: [stranger] });
  try {
    const more = { use_http_11: transport === "h1" };
    const { status, body } = await register(target, endpoint.url, more);
    expect([status, body]).toMatchObject([500, { [`${target.word}_code`]: "META0003" }]);
  } finally {
    await endpoint.close();
  }
};

protocolSuite("request identity", {
  "16 requests are signed, and the SDK accepts": isSigned,
  "16b the same below a path, with two keys accepted": belowPath,
  "16c an endpoint that demands another key cannot be registered": otherKey,
  "16d requests for previews are signed, and the SDK accepts": previews,
}, {
  isSequential: true,
  identityKeys: [name],
  options: { "request-identity-private-key-pem-file": file },
});
