import { effect, signal } from "@preact/signals";

/** What people choose for themselves. Kept by the browser, sent nowhere. */
export interface Settings {
  readonly theme: "system" | "light" | "dark";
  readonly contrast: "system" | "more";
  readonly motion: "system" | "less";
  readonly density: "dense" | "comfortable";
  readonly times: "local" | "utc";
  /** How soon pages follow the server: at once, rarely, or when they are opened and asked to. */
  readonly refresh: "live" | "calm" | "off";
  /** Whether keys without a modifier do something (WCAG 2.1.4). */
  readonly keys: "on" | "off";
}

export const DEFAULTS: Settings = {
  theme: "system",
  contrast: "system",
  motion: "system",
  density: "dense",
  times: "local",
  refresh: "live",
  keys: "on",
};

/** What each may be. */
const VALUES = {
  theme: ["system", "light", "dark"],
  contrast: ["system", "more"],
  motion: ["system", "less"],
  density: ["dense", "comfortable"],
  times: ["local", "utc"],
  refresh: ["live", "calm", "off"],
  keys: ["on", "off"],
} as const satisfies { readonly [K in keyof Settings]: readonly Settings[K][] };

const STORED = "perdure.settings";

export const settings = signal<Settings>(DEFAULTS);

/** Changes one setting. */
export function change<K extends keyof Settings>(name: K, value: Settings[K]): void {
  settings.value = { ...settings.value, [name]: value };
}

/** Reads what is stored, and from then on shows it on the root element and stores each change. */
export function startSettings(): void {
  settings.value = { ...DEFAULTS, ...stored() };
  effect(() => {
    for (const [name, value] of Object.entries(settings.value)) {
      document.documentElement.dataset[name] = value;
    }
    save(settings.value);
  });
}

/** Another version, or somebody else, may have stored what this one does not know: that is left out. */
function stored(): Partial<Settings> {
  try {
    const found = JSON.parse(localStorage.getItem(STORED) ?? "{}") as Record<string, unknown>;
    const known = Object.entries(VALUES).filter(([name, values]) =>
      values.some((value) => value === found[name])
    );
    return Object.fromEntries(known.map(([name]) => [name, found[name]]));
  } catch {
    // Storage may be forbidden, or hold something else: then the defaults hold.
    return {};
  }
}

function save(value: Settings): void {
  try {
    localStorage.setItem(STORED, JSON.stringify(value));
  } catch {
    // Forbidden or full: the choice holds for this page.
  }
}
