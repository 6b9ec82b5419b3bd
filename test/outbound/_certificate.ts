import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificate {
  /** As PEM. */
  readonly key: string;
  readonly cert: string;
}

let made: Certificate | undefined;

/** A certificate for 127.0.0.1, signed by itself. It is made once for each file of tests. */
export function certificate(): Certificate {
  if (made) return made;
  const folder = mkdtempSync(join(tmpdir(), "certificate-"));
  const paths = { key: join(folder, "key.pem"), cert: join(folder, "cert.pem") };
  execFileSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-keyout", paths.key, "-out", paths.cert, "-days", "2", "-subj", "/CN=localhost"],
    ...["-addext", "subjectAltName=IP:127.0.0.1"],
  ], { stdio: "ignore" });
  made = { key: readFileSync(paths.key, "utf8"), cert: readFileSync(paths.cert, "utf8") };
  rmSync(folder, { recursive: true });
  return made;
}
