import { setImmediate } from "node:timers/promises";
import type { SqlClient, Stopwatch } from "../../src/ports.ts";

interface Alarm {
  readonly at: number;
  readonly seq: number;
  readonly call: () => void;
}

/** Time that passes when a test says so, for processes that use a database meanwhile. */
export class VirtualTime {
  now = 0;
  #alarms: Alarm[] = [];
  #seq = 0;
  #pending = 0;

  after(ms: number, call: () => void): () => void {
    const alarm = { at: this.now + Math.max(0, ms), seq: this.#seq++, call };
    this.#alarms.push(alarm);
    return () => this.#alarms = this.#alarms.filter((one) => one !== alarm);
  }

  /** A stopwatch that starts at `from` and goes at another pace. */
  stopwatch({ from, pace }: { readonly from: number; readonly pace: number }): Stopwatch {
    return {
      now: () => from + this.now * pace,
      after: (ms, call) => this.after(ms / pace, call),
    };
  }

  /** The same database; no time passes while it works. */
  watched(client: SqlClient): SqlClient {
    return {
      batch: async (mode, statements) => {
        this.#pending++;
        try {
          return await client.batch(mode, statements);
        } finally {
          this.#pending--;
        }
      },
      isRefused: (cause) => client.isRefused(cause),
      close: () => client.close(),
    };
  }

  /** Lets so much time pass. `each`: after everything that happens. */
  async pass(ms: number, each: () => void = () => {}): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      await this.#settle();
      each();
      const next = this.#alarms.reduce<Alarm | undefined>(earlier, undefined);
      if (!next || next.at > until) break;
      this.#alarms = this.#alarms.filter((one) => one !== next);
      this.now = Math.max(this.now, next.at);
      next.call();
    }
    this.now = until;
    each();
  }

  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 3;) {
      await setImmediate();
      quiet = this.#pending > 0 ? 0 : quiet + 1;
    }
  }
}

function earlier(a: Alarm | undefined, b: Alarm): Alarm {
  if (!a || b.at < a.at) return b;
  return b.at === a.at && b.seq < a.seq ? b : a;
}
