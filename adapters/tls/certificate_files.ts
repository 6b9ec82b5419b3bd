import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Failure } from "../../src/errors.ts";
import type { Clock, Log } from "../../src/ports.ts";
import { WatchedFile } from "../../src/watched_file.ts";
import type { Certificates } from "../platform/listener.ts";

/** A file, and the setting that names it. */
export interface NamedFile {
  readonly setting: string;
  readonly path: string;
}

export interface CertificatePaths {
  /** Set with the key or not at all. */
  readonly cert: NamedFile | undefined;
  readonly key: NamedFile | undefined;
  readonly ca: NamedFile | undefined;
}

export interface CertificateDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Certificates of files, which are read again when one of them changes. */
export class CertificateFiles {
  readonly #deps: CertificateDeps;
  readonly #paths: CertificatePaths;
  readonly #subscribers: ((certificates: Certificates) => void)[] = [];
  #current: Certificates;

  private constructor(
    paths: CertificatePaths,
    { deps, current }: { readonly deps: CertificateDeps; readonly current: Certificates },
  ) {
    this.#deps = deps;
    this.#paths = paths;
    this.#current = current;
  }

  /** Reads the files. Rejects with `Failure` RT0002 that names the setting, and quotes no key. */
  static async open(paths: CertificatePaths, deps: CertificateDeps): Promise<CertificateFiles> {
    const files = new WatchedFile<Certificates>({
      read: () => readAll(paths),
      parse: (text) => checked(paths, text),
      complaint: "Cannot read the certificates of TLS again; the old ones stay in use",
      reasonOf: (cause) => (cause as Error).message,
      ...deps,
    });
    const opened = new CertificateFiles(paths, { deps, current: await files.open() });
    opened.#warnOfTime();
    files.watch((certificates) => opened.#use(certificates));
    return opened;
  }

  get current(): Certificates {
    return this.#current;
  }

  /** Calls back with other certificates, once the files have them. */
  subscribe(changed: (certificates: Certificates) => void): void {
    this.#subscribers.push(changed);
  }

  #use(certificates: Certificates): void {
    this.#current = certificates;
    for (const changed of this.#subscribers) changed(certificates);
    const { cert, ca } = this.#paths;
    this.#deps.log("info", "The certificates of TLS were read again", {
      file: (cert ?? ca)?.path,
      ...(certificates.cert !== undefined && validityOf(certificates.cert)),
    });
    this.#warnOfTime();
  }

  /** A start or a reload goes on: a clock may be wrong, and clients decide what they trust. */
  #warnOfTime(): void {
    const { cert } = this.#current;
    if (cert === undefined) return;
    const { validFrom, validTo } = validityOf(cert);
    const now = this.#deps.clock.now();
    if (Date.parse(validFrom) <= now && now < Date.parse(validTo)) return;
    this.#deps.log("warn", "The certificate of TLS is not valid now: clients refuse it", {
      file: this.#paths.cert?.path,
      validFrom,
      validTo,
    });
  }
}

/** All files as one text, so that a change of several at a time is one change. */
async function readAll({ cert, key, ca }: CertificatePaths): Promise<string> {
  const texts = await Promise.all([cert, key, ca].map((file) => file ? read(file) : null));
  return JSON.stringify(texts);
}

async function read({ setting, path }: NamedFile): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw refusal(setting, path, (cause as Error).message);
  }
}

/** Throws `Failure` RT0002 for files that are no certificates, or that do not fit each other. */
function checked(paths: CertificatePaths, text: string): Certificates {
  const [cert, key, ca] = (JSON.parse(text) as (string | null)[]).map((one) => one ?? undefined);
  if (paths.ca && ca !== undefined) {
    for (const one of pemBlocks(ca)) certificateOf(paths.ca, one);
  }
  if (paths.cert && paths.key) {
    const own = certificateOf(paths.cert, cert ?? "");
    if (!own.checkPrivateKey(keyOf(paths.key, key ?? ""))) {
      const { setting, path } = paths.key;
      throw refusal(setting, path, `the key does not fit the certificate in "${paths.cert.path}"`);
    }
  }
  return { cert, key, ca };
}

function certificateOf({ setting, path }: NamedFile, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw refusal(setting, path, `there is no certificate in PEM (${(cause as Error).message})`);
  }
}

function keyOf({ setting, path }: NamedFile, text: string) {
  if (text.includes("ENCRYPTED")) {
    throw refusal(setting, path, "the key has a passphrase, which the server does not know");
  }
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw refusal(setting, path, `there is no private key in PEM (${(cause as Error).message})`);
  }
}

/** The certificates of a file of authorities. A text without any is one, which is then refused. */
function pemBlocks(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [text];
}

function refusal(setting: string, path: string, why: string): Failure {
  return new Failure("RT0002", `Cannot use "${setting}", the file "${path}": ${why}`);
}

function validityOf(cert: string): { readonly validFrom: string; readonly validTo: string } {
  const { validFrom, validTo } = new X509Certificate(cert);
  return { validFrom, validTo };
}
