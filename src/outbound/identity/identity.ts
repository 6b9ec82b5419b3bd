import { Failure } from "../../errors.ts";
import type { Clock, Log } from "../../ports.ts";
import { KeyFile, reasonOf } from "./key_file.ts";
import { type PrivateKey, readPrivateKey } from "./private_key.ts";
import { Signer } from "./signer.ts";

/** Where the private key is. At most one of the two is set. */
export interface KeySettings {
  /** The key itself, as PEM. */
  readonly pem?: string | undefined;
  /** A file that holds it. */
  readonly pemFile?: string | undefined;
  /** How long before and after it was made a signature is accepted, in milliseconds. */
  readonly expirationMs: number;
  /** Names of the first two settings: what a refusal speaks of. */
  readonly names: { readonly pem: string; readonly pemFile: string };
}

export interface KeyDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent where there are no files. Rejects when one cannot be read. */
  readonly readTextFile?: ((path: string) => Promise<string>) | undefined;
}

/** What signs requests to endpoints. */
export interface RequestIdentity {
  readonly signer: Signer;
  /** Stops looking at the key file. */
  close(): void;
}

/** Tokens are kept for so many handlers and keys of objects. */
const TOKENS_MAX = 4096;

/**
 * Opens what signs requests (docs/spec/service-protocol.md#signed-requests), or answers undefined
 * when no key is set. A key file is watched: a new key in it is used from then on. Rejects with
 * `Failure` RT0002 that names the setting and never quotes a key.
 */
export async function openIdentity(
  settings: KeySettings,
  deps: KeyDeps,
): Promise<RequestIdentity | undefined> {
  const { pem, pemFile, names } = settings;
  if (pem !== undefined && pemFile !== undefined) {
    throw new Failure("RT0002", `Cannot use "${names.pem}" and "${names.pemFile}" at once`);
  }
  if (pem !== undefined) {
    const key = await named(names.pem, () => readPrivateKey(pem));
    return { signer: signerOf(key, settings, deps), close: () => {} };
  }
  if (pemFile === undefined) return undefined;
  const { readTextFile } = deps;
  if (!readTextFile) {
    throw new Failure("RT0002", `Cannot use "${names.pemFile}": this platform has no files`);
  }
  const file = new KeyFile(() => readTextFile(pemFile), deps);
  const key = await named(names.pemFile, () => file.open());
  const signer = signerOf(key, settings, deps);
  file.watch((next) => {
    signer.use(next);
    announce(deps.log, next);
  });
  return { signer, close: () => file.close() };
}

async function named(name: string, read: () => Promise<PrivateKey>): Promise<PrivateKey> {
  try {
    return await read();
  } catch (cause) {
    throw new Failure("RT0002", `Cannot read "${name}": ${reasonOf(cause)}`, { cause });
  }
}

function signerOf(key: PrivateKey, settings: KeySettings, { clock, log }: KeyDeps): Signer {
  const { expirationMs } = settings;
  announce(log, key);
  return new Signer(key, { now: () => clock.now(), expirationMs, tokensMax: TOKENS_MAX });
}

/** Endpoints must be told the public key, so people must be able to find it. */
function announce(log: Log, { publicKey }: PrivateKey): void {
  log("info", "Requests to endpoints are signed", { publicKey });
}
