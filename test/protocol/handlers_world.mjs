import { appendFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** What handlers share: side effects that tests can read, and holds that tests can lift. */
export function worldOf({ folder, suffix = "", revision = "1" }) {
  const log = path.join(folder, "log");
  const lines = () => existsSync(log) ? readFileSync(log, "utf8").split("\n") : [];
  const isReleased = (id) => existsSync(path.join(folder, `${id}.go`));
  return {
    revision,
    /** The name of a service of this endpoint. */
    named: (service) => `${service}${suffix}`,
    // O_APPEND and one write a line: lines of several processes never mix.
    note: (line) => appendFileSync(log, `${line}\n`),
    times: (line) => lines().filter((one) => one === line).length,
    isReleased,
    held: async (id) => {
      while (!isReleased(id)) await new Promise((resolve) => setTimeout(resolve, 10));
    },
  };
}

/** How a promise ended, as a value that goes through JSON. A cancellation of this one is thrown on. */
export async function outcome(promise) {
  try {
    return { value: (await promise) ?? null };
  } catch (cause) {
    if (cause.name === "CancelledError" || typeof cause.code !== "number") throw cause;
    const { code, message, metadata } = cause;
    return { code, message, ...(metadata ? { metadata } : {}) };
  }
}
