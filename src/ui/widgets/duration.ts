const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1_000, 60_000, 3_600_000, 86_400_000];

/** A duration for people, in its two largest units: `340 ms`, `1.2 s`, `12 m`, `3 h 5 m`, `2 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < 10 * MINUTE_MS) return pair(ms, [MINUTE_MS, "m"], [SECOND_MS, "s"]);
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} m`;
  if (ms < DAY_MS) return pair(ms, [HOUR_MS, "h"], [MINUTE_MS, "m"]);
  return pair(ms, [DAY_MS, "d"], [HOUR_MS, "h"]);
}

type Unit = readonly [ms: number, name: string];

function pair(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  const text = `${Math.floor(ms / large)} ${largeName}`;
  return rest === 0 ? text : `${text} ${rest} ${smallName}`;
}

/** The ms of a duration of SQL, such as `PT86400S` or `P0D`. Undefined for other texts. */
export function durationMs(iso: string): number | undefined {
  const [found, days = 0, hours = 0, minutes = 0, seconds = 0] =
    /^P(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/.exec(iso) ?? [];
  if (found === undefined) return undefined;
  return Number(days) * DAY_MS + Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS +
    Number(seconds) * SECOND_MS;
}
