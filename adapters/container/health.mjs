/**
 * Asks the server of this container whether it is ready, for HEALTHCHECK: exits with 0 if so, else
 * with 1 and the reason. The port is read from the environment alone.
 */
import http from "node:http";
import https from "node:https";
import process from "node:process";

const port = process.env["SVC_ADMIN__BIND_PORT"] ?? process.env["ADMIN_PORT"] ?? "9070";

const isSecure = (process.env["SVC_TLS__CERT_FILE"] ?? "") !== "" &&
  process.env["SVC_TLS__INTERFACES"] !== "ingress";
// The certificate names no loopback address, and nothing secret is sent.
const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(4_000) };
const url = `${isSecure ? "https" : "http"}://127.0.0.1:${port}/ready`;

const fail = (why) => {
  process.stderr.write(`unhealthy: ${why}\n`);
  process.exit(1);
};
(isSecure ? https : http).get(url, options, async (answer) => {
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk;
  if (answer.statusCode !== 200) fail(`status ${answer.statusCode}: ${text}`);
  process.exit(0);
}).on("error", (cause) => fail(cause.message));
