import { Failure } from "../../errors.ts";
import type { Clock, Log } from "../../ports.ts";
import { WatchedFile } from "../../watched_file.ts";
import { BadKey, type PrivateKey, readPrivateKey } from "./private_key.ts";
import { Signer } from "./signer.ts";

/** Where the private key is. At most one of the two is set. */
export interface KeySettings {
  /** The key itself, as PEM. */
  readonly pem?: string | undefined;
  /** Path of a file that holds the key. */
  readonly pemFile?: string | undefined;
  /**
   * A signature is accepted from this long before it was made until this long after, in
   * milliseconds.
   */
  readonly expirationMs: number;
  /** Names of the first two settings, for messages of failures. */
  readonly names: { readonly pem: string; readonly pemFile: string };
}

export interface KeyDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent where there are no files. Rejects when one cannot be read. */
  readonly readTextFile?: ((path: string) => Promise<string>) | undefined;
}

/** Signs requests to endpoints, while it is open. */
export interface RequestIdentity {
  readonly signer: Signer;
  /** Stops polling the key file. */
  close(): void;
}

/** How many tokens are cached: one for each handler, and one for each key of an object. */
const TOKENS_MAX = 4096;

/**
 * Reads the key that signs requests (docs/spec/service-protocol.md#signed-requests). Resolves to
 * undefined when no key is set. A key file is polled: a new key in it is used from then on. Rejects
 * with `Failure` RT0002 that names the setting and never quotes a key.
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
  const file = new WatchedFile({
    read: () => readTextFile(pemFile),
    parse: readPrivateKey,
    complaint: "Cannot read the request identity key again; the old one stays in use",
    reasonOf,
    ...deps,
  });
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

/** Logs the public key: endpoints are configured with it, so operators must be able to find it. */
function announce(log: Log, { publicKey }: PrivateKey): void {
  log("info", "Requests to endpoints are signed", { publicKey });
}

/**
 * Why a key cannot be used. The platform's message about a key is left out because it could quote
 * the key; its message about a file is kept.
 */
function reasonOf(cause: unknown): string {
  if (cause instanceof BadKey) return cause.message;
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === "string" ? String(message) : "the platform cannot use the key";
}
