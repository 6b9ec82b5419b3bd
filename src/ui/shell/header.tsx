import { useComputed } from "@preact/signals";
import { answeredAt, isLive, isReachable, now } from "../data/live.ts";
import { routes } from "../routes.ts";
import { link, place } from "../state/router.ts";
import { change, settings } from "../state/settings.ts";
import { Icon } from "../widgets/icon.tsx";
import { durationText } from "../widgets/duration.ts";
import { openPalette } from "./palette.tsx";
import { SignOut } from "./sign_out.tsx";

/** Navigation, palette, theme, and how old what is shown is. */
export function Header() {
  return (
    <header class="top">
      <a class="brand" href="./" aria-label="perdure, home">
        <Icon name="logo" /> <span>perdure</span>
      </a>
      <Navigation />
      <button type="button" class="find" onClick={openPalette}>
        <Icon name="search" /> <span>Go to…</span> <kbd>Ctrl K</kbd>
      </button>
      <Live />
      <ThemeButton />
      <SignOut />
    </header>
  );
}

function Navigation() {
  const [first] = place.value.path.split("/");
  return (
    <nav aria-label="Pages">
      {routes.filter(({ nav }) => nav).map(({ path, title, nav }) => (
        <a key={path} href={link(path)} aria-current={first === path ? "page" : undefined}>
          <Icon name={nav!.icon} /> <span>{title}</span>
        </a>
      ))}
    </nav>
  );
}

/** Whether it is live, paused or cut off, and the age of the newest answer. */
function Live() {
  const age = useComputed(() =>
    answeredAt.value === 0 ? "" : ageText(now.value - answeredAt.value)
  );
  const state = !isReachable.value ? "no answer" : isLive.value ? "live" : "paused";
  const icon = !isReachable.value ? "failed" : isLive.value ? "live" : "paused";
  return (
    <button
      type="button"
      class={`live ${state.replace(" ", "-")}`}
      aria-pressed={isLive.value}
      title={isLive.value ? "Pause: nothing is asked for" : "Follow the server again"}
      onClick={() => void (isLive.value = !isLive.value)}
    >
      <Icon name={icon} /> {state}
      {age.value !== "" && (
        <span class="age">
          <span class="words">as of</span> {age}{" "}
          {age.value !== NOW && <span class="words">ago</span>}
        </span>
      )}
    </button>
  );
}

const NOW = "now";

function ageText(ms: number): string {
  return ms < 1_000 ? NOW : durationText(ms);
}

const THEMES = ["system", "light", "dark"] as const;

function ThemeButton() {
  const { theme } = settings.value;
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  return (
    <button
      type="button"
      class="icon"
      aria-label={`Theme: ${theme}. Change to ${next}`}
      title={`Theme: ${theme}`}
      onClick={() => change("theme", next)}
    >
      <Icon name="theme" />
    </button>
  );
}
