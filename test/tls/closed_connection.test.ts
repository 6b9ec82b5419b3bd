import { expect, test } from "vitest";
import { clientCertificateOf } from "../../adapters/tls/client_certificate.ts";

/** A request of a connection that Node tells `peer` of, as far as it is read. */
function requestOf(peer: object | null): Request {
  const socket = { authorized: true, getPeerCertificate: () => peer };
  return { runtime: { node: { req: { socket } } } } as unknown as Request;
}

test("a client whose connection is closed already has shown no certificate", () => {
  const fingerprint256 = "AB:CD";
  expect(clientCertificateOf(requestOf({ fingerprint256 }))?.keys).toEqual(["cert:sha256:abcd"]);
  expect(clientCertificateOf(requestOf({}))).toBeUndefined();
  expect(clientCertificateOf(requestOf(null))).toBeUndefined();
});
