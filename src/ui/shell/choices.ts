import { termText } from "../data/filter.ts";
import { keyedLinkOf } from "../data/objects.ts";
import { routes } from "../routes.ts";
import { link, linkWith, match } from "../state/router.ts";
import { actionsFor } from "./actions.ts";
import type { IconName } from "../widgets/icon.tsx";

/** Something to go to. */
export interface Choice {
  readonly label: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly to?: string;
  /** What it does, if it leads nowhere. */
  readonly run?: () => void;
}

const CHOICES_MAX = 12;

/** Pages by the prefix of the ids that they show. */
const BY_PREFIX: Readonly<Record<string, readonly [page: string, kind: string]>> = {
  inv_: ["invocations", "invocation"],
  dp_: ["deployments", "deployment"],
};
/** Virtual queues have no page of their own. */
const QUEUE = "vq_";

/** Of what `GET /services` answers. */
export interface Service {
  readonly name: string;
  readonly ty: string;
}

/** What a typed text may mean, the best first. */
export function choicesFor(text: string, services: readonly Service[]): readonly Choice[] {
  const typed = text.trim();
  if (typed === "") return [...pages(typed), ...actionsFor(typed)];
  const exact = ids(typed);
  const found = [...exact, ...pages(typed), ...named(typed, services), ...actionsFor(typed)];
  const searches = exact.length > 0 ? [] : searchesFor(typed);
  return [...found.slice(0, CHOICES_MAX - searches.length), ...searches];
}

/** Whether there is a page at a path: pages are added one by one. */
function isPage(...segments: readonly string[]): boolean {
  return routes.some(({ path }) => match(path, link(...segments)));
}

/** Where an id leads. Undefined: the text is none. */
export function placeOf(text: string): string | undefined {
  return /^\s*[a-z]+_1\w+\s*$/.test(text) ? ids(text.trim())[0]?.to : undefined;
}

function ids(typed: string): Choice[] {
  if (typed.startsWith(QUEUE)) {
    const to = linkWith(link("limits"), { queue: typed });
    return [{ label: typed, kind: "queue", icon: "limit", to }];
  }
  const [, found] = Object.entries(BY_PREFIX).find(([prefix]) => typed.startsWith(prefix)) ?? [];
  if (!found || !isPage(found[0], typed)) return [];
  return [{ label: typed, kind: found[1], icon: "open", to: link(found[0], typed) }];
}

function pages(typed: string): Choice[] {
  return routes.filter(({ nav, title }) => nav && title.toLowerCase().includes(typed.toLowerCase()))
    .map(({ title, path, nav }) => ({
      label: title,
      kind: "page",
      icon: nav!.icon,
      to: link(path),
    }));
}

/** Lists that are searched for a text. */
function searchesFor(typed: string): Choice[] {
  const within = (page: string, filter: string, kind: string, icon: IconName): Choice => ({
    label: `“${typed}” in ${kind}`,
    kind: "search",
    icon,
    to: linkWith(link(page), { filter }),
  });
  // Without the name of a field and its colon: it is searched for in targets and failures.
  const free = termText("", [typed]).slice(1);
  return [
    within("objects", termText("state", [typed]), "states of objects", "object"),
    within("workflows", termText("state", [typed]), "states of workflows", "workflow"),
    within("invocations", free, "invocations", "list"),
  ];
}

/** Services by their names. `Cart/held` is the key `held` of `Cart`. */
function named(typed: string, services: readonly Service[]): Choice[] {
  const [name = "", ...rest] = typed.split("/");
  const key = rest.join("/");
  return services.flatMap((service): Choice[] => {
    if (!service.name.toLowerCase().includes(name.toLowerCase())) return [];
    const keyed = service.ty === "VirtualObject" ? "objects" : "workflows";
    if (key !== "" && service.ty !== "Service" && isPage(keyed, service.name, key)) {
      const label = `${service.name}/${key}`;
      return [{ label, kind: "key", icon: "key", to: keyedLinkOf(keyed, service.name, { key }) }];
    }
    if (!isPage("services", service.name)) return [];
    const to = link("services", service.name);
    return [{ label: service.name, kind: "service", icon: "service", to }];
  });
}
