import { createPublicKey, verify } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { encodeBase58 } from "../../src/outbound/identity/base58.ts";
import { openIdentity } from "../../src/outbound/identity/identity.ts";
import { readPrivateKey } from "../../src/outbound/identity/private_key.ts";
import { newKey, newPem, newSigner, parse } from "./_keys.ts";
import { until } from "./_endpoint.ts";

/** A key, and the name that the reference server gives its public key. */
const KNOWN = {
  pem: `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIEBBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5f
-----END PRIVATE KEY-----
`,
  publicKey: "publickeyv1_3WTypo2uYrwMHJ5yFFwUPX6T25n39PwNwke7pz22P4Ut",
};

test("base 58", () => {
  const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
  expect(encodeBase58(bytes(""))).toBe("");
  expect(encodeBase58(bytes("00"))).toBe("1");
  expect(encodeBase58(bytes("0000287fb4cd"))).toBe("11233QC4");
  expect(encodeBase58(bytes("516b6fcd0f"))).toBe("ABnLTmg");
  expect(encodeBase58(new TextEncoder().encode("Hello World!"))).toBe("2NEpo7TZRRrLZSi2U");
});

describe("a private key", () => {
  test("is known by its public key", async () => {
    expect((await readPrivateKey(KNOWN.pem)).publicKey).toBe(KNOWN.publicKey);
  });

  test("may come with text around it, with spelled line breaks, and with its public key", async () => {
    const der = Buffer.from(KNOWN.pem.split("\n")[1] ?? "", "base64");
    const later = Buffer.concat([der, Buffer.from([0x81, 0x21, 0, ...Array(32).keys()])]);
    later[1] = later.length - 2;
    later[4] = 1;
    for (
      const pem of [
        `# mine\n${KNOWN.pem}\nbye`,
        KNOWN.pem.replaceAll("\n", "\\n"),
        KNOWN.pem.replaceAll("\n", "\r\n"),
        `-----BEGIN PRIVATE KEY-----${later.toString("base64")}-----END PRIVATE KEY-----`,
      ]
    ) {
      expect((await readPrivateKey(pem)).publicKey).toBe(KNOWN.publicKey);
    }
  });

  test.each([
    ["", `no PEM with a block "PRIVATE KEY"`],
    ["secret", `no PEM with a block "PRIVATE KEY"`],
    [KNOWN.pem.replaceAll("PRIVATE", "PUBLIC"), `no PEM with a block "PRIVATE KEY"`],
    [KNOWN.pem.replaceAll("PRIVATE", "RSA PRIVATE"), `no PEM with a block "PRIVATE KEY"`],
    [KNOWN.pem.replace("MC4C", "M"), "no valid base 64 within its PEM block"],
    [KNOWN.pem.replace("MC4C", "MC5C"), "not an Ed25519 private key in PKCS#8"],
    [KNOWN.pem.replace("K2Vw", "K2Vu"), "not an Ed25519 private key in PKCS#8"],
    [
      "-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----",
      "not an Ed25519 private key in PKCS#8",
    ],
  ])("that is none is refused: %j", async (pem, message) => {
    await expect(readPrivateKey(pem)).rejects.toMatchObject({ name: "BadKey", message });
  });
});

describe("a token", () => {
  test("has key id, audience and validity, and is signed", async () => {
    const now = 1_795_273_221_999;
    const signer = await newSigner({ now: () => now });
    const { head, body, signed, signature } = parse(
      await signer.token({ audience: "/invoke/Obj/run", subject: "k/ä" }),
    );
    expect(head).toEqual({ typ: "JWT", alg: "EdDSA", kid: signer.publicKey });
    expect(body).toEqual({
      aud: "/invoke/Obj/run",
      sub: "k/ä",
      iat: 1_795_273_221,
      nbf: 1_795_273_161,
      exp: 1_795_273_281,
    });
    const pem = createPublicKey(KNOWN.pem);
    expect(verify(null, signed, pem, signature)).toBe(false);
    expect(parse(await signer.token({ audience: "/discover" })).body).not.toHaveProperty("sub");
  });

  test("is verified by its public key", async () => {
    const key = await readPrivateKey(KNOWN.pem);
    const data = new TextEncoder().encode("data");
    expect(verify(null, data, createPublicKey(KNOWN.pem), await key.sign(data))).toBe(true);
  });

  test("is used again for half of its time", async () => {
    let now = 1e12;
    const signer = await newSigner({ now: () => now });
    const claims = { audience: "/discover" };
    const first = signer.token(claims);
    expect(signer.token(claims)).toBe(first);
    const text = await first;
    expect(signer.token(claims)).toBe(text);
    now += 29_999;
    expect(signer.token(claims)).toBe(text);
    now += 1;
    const second = await signer.token(claims);
    expect(parse(second).body["iat"]).toBe(1e9 + 30);
    now -= 1;
    const third = await signer.token(claims);
    expect(parse(third).body["iat"]).toBe(1e9 + 29);
    expect(signer.token({ audience: "/discover", subject: "" })).toBeInstanceOf(Promise);
  });

  test("is one of a bounded number", async () => {
    const signer = await newSigner({ tokensMax: 3 });
    const token = (subject: string) => signer.token({ audience: "/invoke/O/h", subject });
    for (let i = 0; i < 3; i++) await token(String(i));
    expect(token("0")).toBeTypeOf("string");
    await token("3");
    expect(token("3")).toBeTypeOf("string");
    expect(token("0")).toBeInstanceOf(Promise);
  });

  test("of an older key is not used once there is another", async () => {
    const signer = await newSigner();
    const claims = { audience: "/discover" };
    const before = signer.publicKey;
    const underway = signer.token(claims);
    const next = await newKey();
    signer.use(next);
    expect(parse(await underway).head).toMatchObject({ kid: before });
    expect(signer.publicKey).toBe(next.publicKey);
    expect(parse(await signer.token(claims)).head).toMatchObject({ kid: next.publicKey });
  });
});

describe("where the key comes from", () => {
  const closing: (() => void)[] = [];
  afterEach(() => closing.splice(0).forEach((close) => close()));

  /** A file that the test changes, and a clock that the test moves. */
  function keyDeps(file: { text: string }) {
    const logged: [string, string, unknown][] = [];
    const timers: (() => void)[] = [];
    return {
      logged,
      tick: () => timers.splice(0).forEach((call) => call()),
      clock: {
        now: () => 0,
        at: (_: number, call: () => void) => {
          timers.push(call);
          return () => void timers.splice(timers.indexOf(call), 1);
        },
        soon: () => {},
      },
      log: (level: string, message: string, fields?: unknown) =>
        void logged.push([level, message, fields]),
      readTextFile: async (path: string) => {
        expect(path).toBe("key.pem");
        if (file.text === "") {
          throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
        }
        return file.text;
      },
    };
  }

  const names = { pem: "key", pemFile: "key-file" };
  const settings = { expirationMs: 60_000, names };

  test("without a setting nothing is signed", async () => {
    const { readTextFile: _, ...rest } = keyDeps({ text: "" });
    expect(await openIdentity(settings, rest)).toBeUndefined();
    expect(rest.logged).toEqual([]);
  });

  test("a setting holds it, and its public key is logged", async () => {
    const here = keyDeps({ text: "" });
    const identity = await openIdentity({ ...settings, pem: KNOWN.pem }, here);
    expect(identity?.signer.publicKey).toBe(KNOWN.publicKey);
    const { publicKey } = KNOWN;
    expect(here.logged).toEqual([["info", "Requests to endpoints are signed", { publicKey }]]);
  });

  test("what cannot be read is refused, and names the setting", async () => {
    const at = (more: object, file = { text: "" }) =>
      openIdentity({ ...settings, ...more }, keyDeps(file));
    const refused = (message: string) => ({ code: "RT0002", message: `[RT0002] ${message}` });
    await expect(at({ pem: "secret" })).rejects.toMatchObject(
      refused(`Cannot read "key": no PEM with a block "PRIVATE KEY"`),
    );
    await expect(at({ pemFile: "key.pem" })).rejects.toMatchObject(
      refused(`Cannot read "key-file": ENOENT: no such file`),
    );
    await expect(at({ pemFile: "key.pem" }, { text: "secret" })).rejects.toMatchObject(
      refused(`Cannot read "key-file": no PEM with a block "PRIVATE KEY"`),
    );
    await expect(at({ pem: KNOWN.pem, pemFile: "key.pem" })).rejects.toMatchObject(
      refused(`Cannot use "key" and "key-file" at once`),
    );
    const { readTextFile: _, ...nowhere } = keyDeps({ text: "" });
    await expect(openIdentity({ ...settings, pemFile: "key.pem" }, nowhere)).rejects.toMatchObject(
      refused(`Cannot use "key-file": this platform has no files`),
    );
  });

  test("a file that changes is used from then on, and a bad one changes nothing", async () => {
    const [file, next] = [{ text: KNOWN.pem }, newPem()];
    const here = keyDeps(file);
    const identity = await openIdentity({ ...settings, pemFile: "key.pem" }, here);
    const signer = identity?.signer;
    if (!identity || !signer) throw new Error("must sign");
    closing.push(identity.close);
    const complaints = () => here.logged.filter(([level]) => level === "error").length;
    for (const text of ["half a key", "half a key", ""]) {
      file.text = text;
      here.tick();
      await new Promise(setImmediate);
    }
    await until(() => complaints() === 2);
    expect(signer.publicKey).toBe(KNOWN.publicKey);
    file.text = next;
    here.tick();
    await until(() => signer.publicKey !== KNOWN.publicKey);
    expect(signer.publicKey).toBe((await readPrivateKey(next)).publicKey);
    file.text = KNOWN.pem;
    identity.close();
    here.tick();
    await new Promise(setImmediate);
    expect(signer.publicKey).not.toBe(KNOWN.publicKey);
    expect(JSON.stringify(here.logged)).not.toContain("half a key");
  });
});
