import { now } from "../data/live.ts";
import { settings } from "../state/settings.ts";
import { durationText } from "./duration.ts";

/** The exact moment, in the zone that the settings name. */
export function momentText(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  if (settings.value.times === "utc") {
    return date.toISOString().replace("T", " ").replace("Z", " UTC");
  }
  const zone = { dateStyle: "medium", timeStyle: "long" } as const;
  return `${date.toLocaleString(undefined, zone)} (${date.toISOString()})`;
}

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
