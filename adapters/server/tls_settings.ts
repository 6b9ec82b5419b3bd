import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import type { Log } from "../../src/ports.ts";
import { clock } from "../platform/clock.ts";
import { CertificateFiles, type NamedFile } from "../tls/certificate_files.ts";
import { OutgoingTls, type TlsOptionsFor, tlsOptionsFor } from "../tls/outgoing.ts";

/** The file that a setting names. Undefined: none. */
export function fileOf(config: Config, setting: keyof Config): NamedFile | undefined {
  const path = config[setting];
  return typeof path !== "string" || path === "" ? undefined : { setting, path };
}

/** The files of a certificate and its key. Throws `Failure` RT0002 for one without the other. */
export function pairOf(config: Config, certSetting: keyof Config, keySetting: keyof Config) {
  const [cert, key] = [fileOf(config, certSetting), fileOf(config, keySetting)];
  if (!cert !== !key) throw incomplete(certSetting, keySetting);
  return { cert, key };
}

/** A setting without another one that it needs. */
export function incomplete(given: string, missing: string): Failure {
  return new Failure("RT0002", `"${given}" and "${missing}" are set together or not at all`);
}

/**
 * How endpoints are spoken to over TLS (docs/security.md#endpoints-over-tls), by files that are followed
 * until the process ends. Rejects with `Failure` RT0002 that names the setting whose file cannot be used.
 */
export async function openOutboundTls(config: Config, log: Log): Promise<TlsOptionsFor> {
  const pair = pairOf(config, "outbound.tls.cert-file", "outbound.tls.key-file");
  const ca = fileOf(config, "outbound.tls.ca-file");
  const names = new Map(
    config["outbound.tls.server-names"].map((entry) => entry.split("=") as [string, string]),
  );
  if (!pair.cert && !ca) return tlsOptionsFor(undefined, names);
  const files = await CertificateFiles.open({ ...pair, ca }, { clock, log });
  const outgoing = new OutgoingTls(files.current);
  files.subscribe((certificates) => outgoing.use(certificates));
  return tlsOptionsFor(outgoing, names);
}
