import { computed, effect, signal } from "@preact/signals";
import { settings } from "../state/settings.ts";

/** Whether what is shown follows the server. The switch is in the header. */
export const isLive = signal(true);

/** Follows what the settings say, until the switch says otherwise. Called once. */
export function startLive(): void {
  const refresh = computed(() => settings.value.refresh);
  effect(() => void (isLive.value = refresh.value !== "off"));
}

/** When the newest shown answer came, in ms since the epoch. 0: none has. */
export const answeredAt = signal(0);

/** Whether the last request reached the server. */
export const isReachable = signal(true);

/** Whether the server tells of changes, so that polls are rare. */
export const isHinted = signal(false);

/** Milliseconds since the epoch, every second while the page is visible: for ages that grow. */
export const now = signal(Date.now());

const SECOND_MS = 1_000;

/** Starts the clock of `now`. */
export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, SECOND_MS);
  document.addEventListener("visibilitychange", () => void (now.value = Date.now()));
}
