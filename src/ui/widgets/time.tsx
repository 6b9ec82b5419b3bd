import { now } from "../data/live.ts";
import { settings } from "../state/settings.ts";
import { durationText } from "./duration.ts";

const MINUTE_MS = 60_000;

/**
 * The exact moment, in the zone that the settings name: `2026-11-25 05:23:58.123 +01:00`, and in UTC.
 * Not in the words of a language: the browser needs longer for the first of those than for all else
 * that a list shows.
 */
export function momentText(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  const utc = plain(date);
  if (settings.value.times === "utc") return `${utc} UTC`;
  const minutes = -date.getTimezoneOffset();
  const local = plain(new Date(date.getTime() + minutes * MINUTE_MS));
  const [hour, minute] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map(digits);
  return `${local} ${minutes < 0 ? "-" : "+"}${hour}:${minute} (${utc} UTC)`;
}

const plain = (date: Date) => date.toISOString().replace("T", " ").replace("Z", "");
const digits = (value: number) => String(value).padStart(2, "0");

/** How long ago a moment was, or until it comes. It grows by itself; the exact moment is its title. */
export function Ago({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return <>–</>;
  const ms = now.value - Date.parse(at);
  const text = ms >= 0 ? `${durationText(ms)} ago` : `in ${durationText(-ms)}`;
  return <time dateTime={at} title={momentText(at)}>{ms >= 0 && ms < 1_000 ? "now" : text}</time>;
}

/** How old something is, without "ago": for columns. */
export function Age({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return <>–</>;
  const text = durationText(Math.max(0, now.value - Date.parse(at)));
  return <time dateTime={at} title={momentText(at)}>{text}</time>;
}

/** The exact moment itself. */
export function Moment({ at }: { readonly at: string | undefined }) {
  return at === undefined ? <>–</> : <time dateTime={at}>{momentText(at)}</time>;
}
