import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { authSettings, isClosed } from "../../src/auth/settings.ts";
import type { Config } from "../../src/config.ts";
import type { Log } from "../../src/ports.ts";
import { random } from "../platform/random.ts";
import { StartFailure } from "./start_failure.ts";

/** The file of the token, in the data folder. */
const TOKEN_FILE = "admin.token";
const TOKEN_BYTES = 32;

/**
 * The settings with a token for each port, when `auth.mode` is `generate`: one that is set stays, and a
 * port without one gets that of the data folder. It is made when it is first needed and kept there, where
 * later starts and operators read it. Rejects with `StartFailure` RT0002 when there is no folder, or its
 * file cannot be read or written.
 */
export async function withGeneratedToken(config: Config, log: Log): Promise<Config> {
  const closed = isClosed(authSettings(config));
  const open = (["admin", "ingress"] as const).filter((port) => !closed[port]);
  if (config["auth.mode"] !== "generate" || open.length === 0) return config;
  if (config["storage.database-url"] !== "") {
    throw new StartFailure("RT0002", 'Cannot generate a token: "storage.database-url" is set', {
      advice: 'There is no data folder to keep it in: set "admin.token" and "ingress.token".',
    });
  }
  const file = path.join(config["base-dir"], TOKEN_FILE);
  const token = await keptToken(file);
  const ports = open.join(" and ");
  log("info", "Clients need the token of this file", { ports, file: path.resolve(file) });
  return { ...config, ...Object.fromEntries(open.map((port) => [`${port}.token`, token])) };
}

async function keptToken(file: string): Promise<string> {
  try {
    const made = Buffer.from(random(TOKEN_BYTES)).toString("base64url");
    // Refused when there is one already, which is then the token.
    await writeFile(file, `${made}\n`, { flag: "wx", mode: 0o600 }).catch((cause) => {
      if (cause.code !== "EEXIST") throw cause;
    });
    const token = (await readFile(file, "utf8")).trim();
    if (token !== "") return token;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StartFailure("RT0002", `Cannot keep a token in "${file}": ${why}`, {
      cause,
      advice: 'Let this user read and write the file, or set "admin.token" and "ingress.token".',
    });
  }
  throw new StartFailure("RT0002", `Cannot use the token in "${file}": the file is empty`, {
    advice: "Delete the file: the next start makes another token.",
  });
}
