import type { Config } from "../../src/config.ts";
import type { Log } from "../../src/ports.ts";
import { clock } from "../platform/clock.ts";
import type { PortTls } from "../platform/listener.ts";
import { CertificateFiles } from "../tls/certificate_files.ts";
import { fileOf, incomplete, pairOf } from "./tls_settings.ts";

/** How each port speaks TLS. Absent: it does not. */
export interface PortsTls {
  readonly ingress?: PortTls;
  readonly admin?: PortTls;
}

/**
 * Reads the certificates of the settings (docs/security.md#tls), and follows their files until the
 * process ends. Rejects with `Failure` RT0002 that names
 * the setting whose file cannot be used.
 */
export async function openPortsTls(config: Config, log: Log): Promise<PortsTls> {
  const ca = fileOf(config, "tls.client-ca-file");
  const pair = pairOf(config, "tls.cert-file", "tls.key-file");
  if (!pair.cert) {
    if (ca) throw incomplete("tls.client-ca-file", "tls.cert-file");
    return {};
  }
  const files = await CertificateFiles.open({ ...pair, ca }, { clock, log });
  const port = portTls(files, config);
  const which = config["tls.interfaces"];
  return {
    ...(which !== "admin" && { ingress: port }),
    ...(which !== "ingress" && { admin: port }),
  };
}

function portTls(files: CertificateFiles, config: Config): PortTls {
  return {
    get certificates() {
      return files.current;
    },
    handshakeTimeoutMs: config["tls.handshake-timeout"],
    subscribe: (changed) => files.subscribe(changed),
  };
}
