import type { IncomingMessage } from "node:http";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { type ClientCertificate, clientCertificate } from "../../src/auth/client_certificate.ts";

interface Bridged {
  readonly runtime?: { readonly node?: { readonly req: IncomingMessage } };
}

const known = new WeakMap<object, ClientCertificate>();

/**
 * The certificate that the client of a request has shown, of a port that `node/listen.ts` serves.
 * Undefined: none, or one of another authority. What it says is read once for each connection.
 */
export function clientCertificateOf(request: Request): ClientCertificate | undefined {
  const message = (request as Bridged).runtime?.node?.req;
  // The socket of a request of HTTP/2 is another object for each session.
  const socket = message?.socket as TLSSocket | undefined;
  if (!socket || !socket.authorized) return undefined;
  let certificate = known.get(socket);
  if (!certificate) {
    // Null once the connection is closed, and without a fingerprint if the client has shown none.
    const shown: PeerCertificate | null = socket.getPeerCertificate();
    if (!shown?.fingerprint256) return undefined;
    const { subject, subjectaltname, fingerprint256 } = shown;
    const { CN } = subject ?? {};
    certificate = clientCertificate({
      fingerprint: fingerprint256,
      alternativeNames: subjectaltname,
      commonName: typeof CN === "string" ? CN : undefined,
    });
    known.set(socket, certificate);
  }
  return certificate;
}
