import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import type { Log } from "../../src/ports.ts";
import { clock } from "../platform/clock.ts";
import type { PortTls } from "../platform/listener.ts";
import { CertificateFiles, type NamedFile } from "../tls/certificate_files.ts";

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
  const cert = fileOf(config, "tls.cert-file"), key = fileOf(config, "tls.key-file");
  const ca = fileOf(config, "tls.client-ca-file");
  if (!cert !== !key) throw incomplete("tls.cert-file", "tls.key-file");
  if (!cert || !key) {
    if (ca) throw incomplete("tls.client-ca-file", "tls.cert-file");
    return {};
  }
  const files = await CertificateFiles.open({ cert, key, ca }, { clock, log });
  const port = portTls(files, config, false);
  const which = config["tls.interfaces"];
  return {
    ...(which !== "admin" && { ingress: port }),
    ...(which !== "ingress" && { admin: port }),
  };
}

function portTls(files: CertificateFiles, config: Config, isMutual: boolean): PortTls {
  return {
    get certificates() {
      return files.current;
    },
    isMutual,
    handshakeTimeoutMs: config["tls.handshake-timeout"],
    subscribe: (changed) => files.subscribe(changed),
  };
}

type FileSetting = "tls.cert-file" | "tls.key-file" | "tls.client-ca-file";

function fileOf(config: Config, setting: FileSetting): NamedFile | undefined {
  const path = config[setting];
  return path === "" ? undefined : { setting, path };
}

function incomplete(given: string, missing: string): Failure {
  return new Failure("RT0002", `"${given}" and "${missing}" are set together or not at all`);
}
