import { effect } from "@preact/signals";
import { apiUrl, credentials } from "./client.ts";
import { type Hint, hintIn } from "./hint.ts";
import { isHinted, isLive, isReachable } from "./live.ts";
import { hintAll, refreshAll } from "./resource.ts";
import { settings } from "../state/settings.ts";
import { abilities } from "./server.ts";

/** The first page is shown first. */
const START_MS = 1_500;
/** After a stream has ended or could not be opened, doubled up to the second one. */
const RETRY_MS = { first: 1_000, last: 30_000 };

/**
 * Follows what the server tells of changes, if it does (`GET /internal/ui/events`), so that polls can
 * be rare. Only while the page is visible: browsers have six connections to a server for all tabs.
 */
export function startHints(): void {
  let stream: AbortController | undefined;
  const update = () => {
    const isWanted = isLive.value && settings.value.refresh === "live" && abilities().hasEvents &&
      !document.hidden;
    if (isWanted === (stream !== undefined)) return;
    stream?.abort();
    stream = isWanted ? new AbortController() : undefined;
    if (stream) void follow(stream.signal);
  };
  setTimeout(() => effect(update), START_MS);
  document.addEventListener("visibilitychange", update);
}

/** Opens the stream again and again until the signal. */
async function follow(signal: AbortSignal): Promise<void> {
  let waitMs = RETRY_MS.first;
  while (!signal.aborted) {
    await read(signal, (hint) => {
      waitMs = RETRY_MS.first;
      isHinted.value = isReachable.value = true;
      // The first event as well: nobody has told what changed since the page was read.
      hintAll(hint);
    });
    if (isHinted.value && !signal.aborted) refreshAll();
    isHinted.value = false;
    if (signal.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(RETRY_MS.last, 2 * waitMs);
  }
}

/** Resolves when the stream has ended, whatever the reason. `onHint`: for each event with data. */
async function read(signal: AbortSignal, onHint: (hint: Hint) => void): Promise<void> {
  try {
    // Not by `EventSource`, which sends no token where the server has no sessions.
    const { ok, body } = await fetch(apiUrl("internal/ui/events"), {
      signal,
      headers: credentials(),
    });
    if (!ok || !body) return;
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = "";;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop() ?? "";
      for (const hint of events.map(hintIn)) if (hint) onHint(hint);
    }
  } catch {
    // A connection that is gone is opened again. Until then nobody answers, most likely.
    if (!signal.aborted) isReachable.value = false;
  }
}
