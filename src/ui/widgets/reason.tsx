import { now } from "../data/live.ts";
import { link } from "../state/router.ts";
import { durationText } from "./duration.ts";
import { formatted } from "./moment.ts";
import { momentText } from "./time.tsx";

const PARTS = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)|(inv_1[0-9A-Za-z]{20,})/;

/**
 * A sentence of the server, such as `waiting_reason`: times in it are counted down, and invocations
 * are links. Everything else is text, whatever is in it.
 */
export function Reason({ text }: { readonly text: string }) {
  return (
    <bdi class="text">
      {text.split(PARTS).map((part, at) => {
        if (part === undefined || part === "") return null;
        // A split by two groups: text, time, id, text, …
        if (at % 3 === 1) return <Clock key={at} at={part} />;
        return at % 3 === 2 ? <a key={at} href={link("invocations", part)}>{short(part)}</a> : part;
      })}
    </bdi>
  );
}

/** The clock of the page ticks by this: what is nearer is neither to come nor past. */
const NOW_MS = 1_000;

/** The time of day, and how far away it is. */
function Clock({ at }: { readonly at: string }) {
  const ms = Date.parse(at) - now.value;
  const text = durationText(Math.abs(ms));
  const away = Math.abs(ms) < NOW_MS ? "now" : ms > 0 ? `in ${text}` : `${text} ago`;
  return (
    <time dateTime={at} title={momentText(at)}>
      {formatted(new Date(at), { timeStyle: "medium" })} ({away})
    </time>
  );
}

function short(id: string): string {
  return `${id.slice(0, 10)}…${id.slice(-5)}`;
}
