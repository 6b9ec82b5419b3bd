/** Three dots, large enough for thin screens. */
const DOTS = [3, 8, 13].map((x) => `M${x - 0.6} 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0`).join("");

/** Outlines on a grid of 16: drawn by us, one path each, so that no page waits for a font. */
const PATHS = {
  logo: "M8 1l7 7-7 7-7-7zM8 5L5 8l3 3 3-3z",
  home: "M2 7.500L8 2l6 5.500V14H2zM6.500 14v-4h3v4",
  list: "M2 4h12M2 8h12M2 12h12",
  object: "M8 1.500l6 3.250v6.500L8 14.500l-6-3.250v-6.500zM2 4.750L8 8l6-3.250M8 8v6.500",
  workflow: "M2 2h5v4H2zM9 10h5v4H9zM4.500 6v6H9",
  service: "M3 3h10v4H3zM3 9h10v4H3zM5.500 5h.01M5.500 11h.01",
  deployment: "M8 14V4M4 7.500L8 3.500l4 4M2 14h12",
  limit: "M2 13a6 6 0 1 1 12 0M8 13l3.500-4.500",
  kafka:
    "M5 8h4M10.500 4L8.500 7M10.500 12L8.500 9M2 8a1.500 1.500 0 1 0 3 0 1.500 1.500 0 1 0-3 0M10 3a1.500 1.500 0 1 0 3 0 1.500 1.500 0 1 0-3 0M10 13a1.500 1.500 0 1 0 3 0 1.500 1.500 0 1 0-3 0",
  sql: "M3 4c0-3 10-3 10 0v8c0 3-10 3-10 0zM3 4c0 3 10 3 10 0M3 8c0 3 10 3 10 0",
  settings: "M2 4h6M12 4h2M8 2.500v3h4v-3zM2 11h2M8 11h6M4 9.500v3h4v-3z",
  search: "M11 11l3.500 3.500M2 7a5 5 0 1 0 10 0 5 5 0 1 0-10 0",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 1 1 0 12",
  key: "M6.500 8H14M11.500 8v3M14 8v2M1.500 8a2.500 2.500 0 1 0 5 0 2.500 2.500 0 1 0-5 0",
  open: "M6 3H3v10h10v-3M9 2h5v5M14 2L7.500 8.500",
  copy: "M5 5h9v9H5zM11 5V2H2v9h3",
  close: "M3 3l10 10M13 3L3 13",
  more: DOTS,
  down: "M3 6l5 5 5-5",
  right: "M6 3l5 5-5 5",
  left: "M10 3L5 8l5 5",
  up: "M3 10l5-5 5 5",
  play: "M4 2.500l9 5.500-9 5.500z",
  edit: "M2 14l1-4 8-8 3 3-8 8zM9.500 3.500l3 3",
  add: "M8 3v10M3 8h10",
  remove: "M3 8h10",
  equal: "M3 6h10M3 10h10",
  trash: "M2 4h12M6 4V2h4v2M4 4l1 10h6l1-10",
  lock: "M3 7h10v7H3zM5 7V5a3 3 0 0 1 6 0v2",
  leave: "M9 2H3v12h6M6.500 8H14M11 5l3 3-3 3",
  warning: "M8 2l7 12H1zM8 6.500v3.500M8 12h.01",
  info: "M8 7v4.500M8 4.500h.01M2 8a6 6 0 1 0 12 0A6 6 0 1 0 2 8",
  live: "M5 8a3 3 0 1 0 6 0 3 3 0 1 0-6 0zM3 3a7 7 0 0 0 0 10M13 3a7 7 0 0 1 0 10",
  scheduled: "M8 4.500V8l2.500 2M2 8a6 6 0 1 0 12 0A6 6 0 1 0 2 8",
  pending: DOTS,
  ready: "M5 3.500l7 4.500-7 4.500z",
  running: "M3 8a5 5 0 1 0 10 0A5 5 0 1 0 3 8zM6 8a2 2 0 1 0 4 0 2 2 0 1 0-4 0z",
  retrying: "M13.500 8A5.500 5.500 0 1 1 11.500 3.800M11.500 1v3h-3",
  suspended: "M8 3a5 5 0 0 0 0 10zM8 3a5 5 0 0 1 0 10",
  paused: "M5 3v10M11 3v10",
  succeeded: "M2.500 8.500l4 4 7-9",
  failed: "M3 3l10 10M13 3L3 13",
  canceled: "M2 8a6 6 0 1 0 12 0A6 6 0 1 0 2 8M4 4l8 8",
  killed: "M5 1.500h6L14.500 5v6L11 14.500H5L1.500 11V5zM5.500 5.500l5 5M10.500 5.500l-5 5",
} as const;

export type IconName = keyof typeof PATHS;

/** Icons whose inside is filled. */
const FILLED: readonly IconName[] = ["logo", "play", "ready", "running", "more", "pending"];

/** An icon. It says nothing by itself: a word stands beside it, or its button has a label. */
export function Icon({ name }: { readonly name: IconName }) {
  const isFilled = FILLED.includes(name);
  return (
    <svg class={isFilled ? "i filled" : "i"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
