import { type Code, errors } from "./error_codes.ts";

/**
 * Something went wrong outside our own code: a request, a service, a database. Never a bug. Its
 * message is shown to untrusted clients, so it holds no secret and no path of ours.
 */
export class Failure extends Error {
  override name = "Failure";
  /** Null when the failure has a status only. */
  readonly code: Code | null;
  /** HTTP status to answer with. */
  readonly status: number;

  /** `detail` follows the code in the message. `status` replaces the one of the table. */
  constructor(code: Code, detail: string, options?: ErrorOptions & { status?: number }) {
    super(`[${code}] ${detail}`, options);
    this.code = code;
    this.status = options?.status ?? errors[code].status;
  }

  /** A failure that has a status but no code of its own: the message is exactly `message`. */
  static plain(status: number, message: string, options?: ErrorOptions): Failure {
    const failure = new Failure("RT0006", message, { ...options, status });
    return Object.assign(failure, { code: null, message });
  }
}

/**
 * A request that was certainly not applied, by a partition that lives in another process or in none
 * at the moment: it may be retried even if it is not idempotent.
 */
export class Untaken extends Failure {
  override name = "Untaken";

  constructor(message: string, options?: ErrorOptions) {
    super("RT0006", message, { ...options, status: 503 });
    Object.assign(this, { code: null, message });
  }
}
