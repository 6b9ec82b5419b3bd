import type { AdminOptions } from "../../src/admin/router.ts";
import type { LogLevel } from "../../src/ports.ts";

/** A record of a log. */
export interface Logged {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const AUDITED = "A change through the admin API";

/** A log without the records of the audit, which its own tests alone are about. */
export function logTo(
  logged: Logged[],
  { auditStore }: Pick<Partial<AdminOptions>, "auditStore">,
): AdminOptions["log"] {
  return (level, message, fields = {}) => {
    if (auditStore !== undefined || message !== AUDITED) logged.push({ level, message, fields });
  };
}
