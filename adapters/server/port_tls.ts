import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import type { Log } from "../../src/ports.ts";
import { clock } from "../platform/clock.ts";
import type { PortTls } from "../platform/listener.ts";
import { CertificateFiles } from "../tls/certificate_files.ts";
import { OutgoingTls } from "../tls/outgoing.ts";
import { fileOf, incomplete, pairOf } from "./tls_settings.ts";

/** How each port speaks TLS. Absent: it does not. */
interface PortsTls {
  readonly ingress?: PortTls;
  readonly admin?: PortTls;
}

/** How the processes of a fleet speak TLS with each other. Both are absent: they do not. */
interface FleetTls {
  /** How the others are served. */
  readonly fleet?: PortTls;
  /** How the others are called. */
  readonly outgoing?: OutgoingTls;
}

/** How this process speaks TLS, but with endpoints. */
export type ProcessTls = PortsTls & FleetTls;

/**
 * Reads the certificates of the settings (docs/security.md#tls), and follows their files until the
 * process ends. Rejects with `Failure` RT0002 that names the setting whose file cannot be used.
 */
export async function openTls(config: Config, log: Log): Promise<ProcessTls> {
  return { ...await openPortsTls(config, log), ...await openFleetTls(config, log) };
}

async function openPortsTls(config: Config, log: Log): Promise<PortsTls> {
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

/** One certificate both ways: each process is a server and a client of the others. */
async function openFleetTls(config: Config, log: Log): Promise<FleetTls> {
  const ca = fileOf(config, "fleet.tls.ca-file");
  const pair = pairOf(config, "fleet.tls.cert-file", "fleet.tls.key-file");
  if (!pair.cert) {
    if (ca) throw incomplete("fleet.tls.ca-file", "fleet.tls.cert-file");
    return {};
  }
  if (/^http:/i.test(config["fleet.advertised-address"])) throw plainAddress();
  const files = await CertificateFiles.open({ ...pair, ca }, { clock, log });
  // With authorities of its own, a fleet trusts no others: any certificate of the web would do else.
  const outgoing = new OutgoingTls(files.current, { withSystem: false });
  files.subscribe((certificates) => outgoing.use(certificates));
  const port = portTls(files, config);
  return { outgoing, fleet: { ...port, needsCertificate: ca !== undefined } };
}

function plainAddress(): Failure {
  return new Failure(
    "RT0002",
    'With "fleet.tls.cert-file", "fleet.advertised-address" begins with https',
  );
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
