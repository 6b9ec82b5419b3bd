/**
 * Asks the server of this container whether it is ready, for HEALTHCHECK: exits with 0 if so, else
 * with 1 and the reason. The port is read from the environment alone.
 */
import process from "node:process";

const port = process.env["SVC_ADMIN__BIND_PORT"] ?? process.env["ADMIN_PORT"] ?? "9070";

try {
  const signal = AbortSignal.timeout(4_000);
  const answer = await fetch(`http://127.0.0.1:${port}/ready`, { signal });
  if (!answer.ok) throw new Error(`status ${answer.status}: ${await answer.text()}`);
} catch (cause) {
  process.stderr.write(`unhealthy: ${cause.message}\n`);
  process.exitCode = 1;
}
