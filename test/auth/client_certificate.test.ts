import { describe, expect, test } from "vitest";
import { clientCertificate, parseCertificateKey } from "../../src/auth/client_certificate.ts";

const fingerprint = "AA:BB:" + "0".repeat(2);

describe("the names of a certificate", () => {
  test("are its fingerprint, alternative names and common name, in this order", () => {
    const { name, keys } = clientCertificate({
      fingerprint,
      commonName: "ci",
      alternativeNames: "DNS:CI.example.com, IP Address:127.0.0.1, email:a@b, URI:spiffe://x/y",
    });
    expect(name).toBe("ci");
    expect(keys).toEqual([
      "cert:sha256:aabb00",
      "cert:uri:spiffe://x/y",
      "cert:dns:ci.example.com",
      "cert:email:a@b",
      "cert:cn:ci",
    ]);
  });

  test("are never parts of a quoted value", () => {
    const { keys } = clientCertificate({
      fingerprint,
      commonName: undefined,
      alternativeNames: 'DNS:"a, DNS:admin.example.com", DNS:b.example.com',
    });
    expect(keys).toEqual(["cert:sha256:aabb00", "cert:dns:b.example.com"]);
  });
});

test("a line names a certificate in any spelling that openssl prints", () => {
  const digits = "AB".repeat(32);
  const colons = digits.match(/../g)!.join(":");
  expect(parseCertificateKey(`cert:sha256:${colons}`)).toBe(`cert:sha256:${digits.toLowerCase()}`);
  expect(parseCertificateKey("cert:dns:A.b")).toBe("cert:dns:a.b");
  expect(parseCertificateKey("cert:sha256:abc")).toBeUndefined();
  expect(parseCertificateKey("cert:ip:1.2.3.4")).toBeUndefined();
  expect(parseCertificateKey("dns:a")).toBeUndefined();
});
