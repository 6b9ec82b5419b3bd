/**
 * Makes the secrets of compose.yaml, at its first start, in the folder of a volume that its containers
 * share: `node secrets.mjs <folder>`. A variable `PERDURE_TOKEN`, `PERDURE_FLEET_SECRET` or
 * `PERDURE_KAFKA_TOKEN` that is not empty takes the place of the one that is there. Servers read
 * `settings.toml`, sidecars and people the file of a secret. None is printed.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";

const BYTES = 32;
const folder = process.argv[2];
if (folder === undefined) {
  process.stderr.write("Usage: node secrets.mjs <folder>\n");
  process.exit(1);
}

const token = kept("token", "PERDURE_TOKEN");
const fleetSecret = kept("fleet.secret", "PERDURE_FLEET_SECRET");
const kafkaToken = kept("kafka.token", "PERDURE_KAFKA_TOKEN");
write(
  "settings.toml",
  `[admin]
token = ${quoted(token)}
[ingress]
token = ${quoted(token)}
[fleet]
secret = ${quoted(fleetSecret)}
[kafka]
token = ${quoted(kafkaToken)}
`,
);
const file = path.join(folder, "token");
process.stdout.write(`Both ports of the servers need the token of this file: ${file}\n`);

/** The secret of a file, which is made unless it is there or a variable says another one. */
function kept(name, variable) {
  const at = path.join(folder, name);
  const there = existsSync(at) ? readFileSync(at, "utf8").trim() : "";
  const secret = process.env[variable] || there || randomBytes(BYTES).toString("base64url");
  if (secret !== there) write(name, `${secret}\n`);
  return secret;
}

/** As a whole or not at all: a start that is cut off leaves no half of a secret. */
function write(name, text) {
  const at = path.join(folder, name);
  writeFileSync(`${at}.new`, text, { mode: 0o600 });
  renameSync(`${at}.new`, at);
}

/** A basic string of TOML. */
function quoted(text) {
  return JSON.stringify(text);
}
