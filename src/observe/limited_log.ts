import type { Log } from "../ports.ts";

/** Records of one message within a second. Further ones are only counted. */
const PER_SECOND_MAX = 20;

interface Spent {
  second: number;
  count: number;
  suppressed: number;
}

/**
 * A rate-limited log, which a service that fails a thousand times a second cannot flood. The next record
 * of the same message has the number of omitted ones as `suppressed`. For messages that are constant.
 * `now`: milliseconds since the epoch.
 */
export function limitedLog(log: Log, now: () => number): Log {
  const messages = new Map<string, Spent>();
  return (level, message, fields) => {
    let spent = messages.get(message);
    if (!spent) messages.set(message, spent = { second: 0, count: 0, suppressed: 0 });
    const second = Math.floor(now() / 1000);
    if (spent.second !== second) {
      spent.second = second;
      spent.count = 0;
    }
    if (++spent.count > PER_SECOND_MAX) return void spent.suppressed++;
    const { suppressed } = spent;
    spent.suppressed = 0;
    log(level, message, suppressed > 0 ? { ...fields, suppressed } : fields);
  };
}
