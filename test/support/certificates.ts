import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A certificate and its key, as files and as PEM. */
export interface Issued {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

export interface IssueOptions {
  /** Default: those of this machine. */
  readonly names?: string;
  /** How long it is valid. Default: 2. -1: it has expired. */
  readonly days?: number;
}

/** Of this machine, as `subjectAltName`. */
const OWN_NAMES = "DNS:localhost,IP:127.0.0.1";
const EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** An authority of a test, which lives in a temporary folder. Needs the program openssl. */
export class Authority {
  readonly folder: string;
  readonly caFile: string;
  readonly ca: string;
  #issued = 0;

  constructor(name: string) {
    this.folder = mkdtempSync(path.join(tmpdir(), "authority-"));
    this.caFile = path.join(this.folder, "ca.pem");
    this.#openssl(
      ...["req", "-x509", ...EC, "-days", "2", "-subj", `/CN=${name}`],
      ...["-keyout", "ca.key", "-out", "ca.pem"],
    );
    this.ca = readFileSync(this.caFile, "utf8");
  }

  /** Makes a certificate with a common name. */
  issue(name: string, { names = OWN_NAMES, days = 2 }: IssueOptions = {}): Issued {
    const folder = `${++this.#issued}`;
    mkdirSync(path.join(this.folder, folder));
    const at = (file: string) => path.join(this.folder, folder, file);
    writeFileSync(at("ext"), `subjectAltName=${names}\n`);
    this.#openssl(
      ...["req", ...EC, "-subj", `/CN=${name}`, "-keyout", at("key.pem"), "-out", at("request")],
    );
    this.#openssl(
      ...["x509", "-req", "-in", at("request"), "-CA", "ca.pem", "-CAkey", "ca.key"],
      ...["-CAcreateserial", "-days", String(days), "-extfile", at("ext"), "-out", at("cert.pem")],
    );
    const [certFile, keyFile] = [at("cert.pem"), at("key.pem")];
    const [cert, key] = [readFileSync(certFile, "utf8"), readFileSync(keyFile, "utf8")];
    return { certFile, keyFile, cert, key };
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #openssl(...args: readonly string[]): void {
    execFileSync("openssl", args, { cwd: this.folder, stdio: "pipe" });
  }
}
