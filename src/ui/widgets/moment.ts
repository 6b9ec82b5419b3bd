import { settings } from "../state/settings.ts";

/** Formats by what they show: to make one takes longer than to use it a hundred times. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** A moment in the language of the browser, in the zone that the settings name. */
export function formatted(date: Date, options: Intl.DateTimeFormatOptions): string {
  const zone = settings.value.times === "utc" ? { timeZone: "UTC" } : {};
  const key = JSON.stringify([options, zone]);
  const known = formats.get(key);
  const format = known ?? new Intl.DateTimeFormat(undefined, { ...options, ...zone });
  if (!known) formats.set(key, format);
  return format.format(date);
}
