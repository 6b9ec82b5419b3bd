import type { AuditRecord, AuditStore } from "../../audit_port.ts";
import { AttemptPace } from "../../auth/attempt_pace.ts";
import { limitedLog } from "../../observe/limited_log.ts";
import type { Log } from "../../ports.ts";
import { auditedOf } from "../access.ts";
import type { AuditedCall } from "./audited_call.ts";

/** Records of one write: each has up to 10 KB, and some databases bind no more than 1.5 MB. */
const WRITE_MAX = 100;
/** Records between two checks of which are to be dropped. */
const PRUNE_EVERY = 200;

export interface AuditSettings {
  /** How long records are kept, in milliseconds. 0: none is stored, and all are logged. */
  readonly retentionMs: number;
  /** Records that are kept. Beyond it the oldest are dropped. */
  readonly rowsMax: number;
  /** Refused requests that are recorded in a second. Beyond it they are counted. */
  readonly refusedMax: number;
  /** Whether queries in SQL are recorded. */
  readonly withQueries: boolean;
}

export interface AuditDeps {
  /** Absent: records are only logged. */
  readonly store?: AuditStore | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

/** A record that waits for its write. */
interface Waiting {
  readonly record: AuditRecord;
  readonly done: () => void;
}

/**
 * Records who did what through the admin API (docs/security.md#audit): in the log, and in rows. A change
 * is answered once its record is durable; of those that come at once, one write has all.
 */
export class Audit {
  readonly #settings: AuditSettings;
  readonly #deps: AuditDeps;
  readonly #failures: Log;
  readonly #refused: AttemptPace;
  #waiting: Waiting[] = [];
  #isWriting = false;
  #untilPruned = 0;
  #omitted = 0;

  constructor(settings: AuditSettings, deps: AuditDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#failures = limitedLog(deps.log, deps.now);
    this.#refused = new AttemptPace(settings.refusedMax, deps.now);
  }

  /**
   * Records a request with its answer, if its route is recorded. Resolves once the record of a change is
   * durable, and at once for one that was refused, which changed nothing. Never rejects: a record that
   * cannot be stored is in the log.
   */
  async record(
    call: AuditedCall,
    about: Omit<AuditRecord, "at" | "identity" | "route" | "target">,
  ) {
    const audited = auditedOf(call.route);
    if (call.route === "" || audited === "nothing") return;
    if (audited === "query" && !this.#settings.withQueries) return;
    const isRefused = about.status >= 400 && about.status < 500;
    if (isRefused && !this.#isOpen()) return;
    const omitted = this.#omitted;
    this.#omitted = 0;
    const record: AuditRecord = {
      at: this.#deps.now(),
      identity: call.identity,
      ...about,
      route: call.route.slice(call.route.indexOf(" ") + 1),
      target: call.target,
      ...(omitted > 0 && { omitted }),
    };
    this.#deps.log("info", "A change through the admin API", { ...record, at: undefined });
    const { retentionMs } = this.#settings;
    if (!this.#deps.store || retentionMs === 0) return;
    const stored = new Promise<void>((done) => this.#waiting.push({ record, done }));
    if (!this.#isWriting) void this.#write(this.#deps.store);
    if (!isRefused) await stored;
  }

  #isOpen(): boolean {
    const { isOpen } = this.#refused;
    if (isOpen) this.#refused.spend();
    else this.#omitted++;
    return isOpen;
  }

  async #write(store: AuditStore): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, WRITE_MAX);
      try {
        await store.add(some.map(({ record }) => record));
        await this.#prune(store, some.length);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        this.#failures("error", "Cannot store records of the audit; they are in this log", {
          records: some.length,
          cause: reason,
        });
      }
      for (const { done } of some) done();
    }
    this.#isWriting = false;
  }

  async #prune(store: AuditStore, added: number): Promise<void> {
    this.#untilPruned -= added;
    if (this.#untilPruned > 0) return;
    this.#untilPruned = PRUNE_EVERY;
    const { retentionMs, rowsMax } = this.#settings;
    await store.prune({ before: this.#deps.now() - retentionMs, rowsMax });
  }
}
