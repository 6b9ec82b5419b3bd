import { isLive } from "../data/live.ts";
import { keySets } from "../state/keys.ts";
import { go, link, linkWith } from "../state/router.ts";
import { change, type Settings, settings } from "../state/settings.ts";
import type { Choice } from "./choices.ts";

/** Sections of keys that are of use by keys only: they move, or open this palette. */
const MOVES = ["Everywhere", "Table", "Filter"];

/** What can be done here: what the keys of the page do, and what every page can do. */
export function actionsFor(typed: string): Choice[] {
  const lower = typed.toLowerCase();
  const found = [...actionsOfPage(), ...actionsOfAll()];
  return found.filter(({ label }) => label.toLowerCase().includes(lower));
}

function actionsOfPage(): Choice[] {
  return keySets.value.filter(({ title }) => !MOVES.includes(title)).flatMap(({ title, keys }) =>
    Object.values(keys).map(({ label, run }): Choice => ({
      ...{ label, run, kind: title.toLowerCase(), icon: "play" },
    }))
  );
}

function actionsOfAll(): Choice[] {
  const action = (label: string, run: () => void): Choice => ({
    ...{ label, run, kind: "action", icon: "play" },
  });
  const set = <K extends keyof Settings>(title: string, name: K, values: readonly Settings[K][]) =>
    values.filter((value) => value !== settings.value[name])
      .map((value) => action(`${title}: ${value}`, () => change(name, value)));
  return [
    action(
      "Register a deployment",
      () => go(linkWith(link("deployments"), { register: "yes" })),
    ),
    action("Open a file of an invocation", () => go(link("file"))),
    action(
      isLive.value ? "Pause: nothing is asked for" : "Follow the server again",
      () => void (isLive.value = !isLive.value),
    ),
    ...set("Theme", "theme", ["system", "light", "dark"]),
    ...set("Rows", "density", ["dense", "comfortable"]),
    ...set("Times", "times", ["local", "utc"]),
  ];
}
