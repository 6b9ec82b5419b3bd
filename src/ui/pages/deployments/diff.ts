import type { Handler, Service } from "../../data/catalog.ts";

export type DiffKind = "added" | "removed" | "changed" | "same";

/** An option that differs. Absent: it is not set. */
export interface Change {
  readonly option: string;
  readonly before?: string;
  readonly after?: string;
}

/** What a registration does to a handler or service. */
export interface Diff {
  readonly name: string;
  readonly kind: DiffKind;
  readonly changes: readonly Change[];
}

export interface ServiceDiff extends Diff {
  /** The newer one, or what is removed. */
  readonly service: Service;
  readonly handlers: readonly Diff[];
}

/** What a registration gives itself, what operators set beside it, and what is compared by name. */
const NO_OPTIONS: ReadonlySet<string> = new Set([
  ...["name", "handlers", "deployment_id", "revision", "info"],
  ...["paused", "concurrency", "rate"],
]);

/**
 * What is served now and what would be. `known`: services in their latest revisions, `offered`: what
 * the endpoint announces. `replacedId`: the deployment that is overwritten, whose other services are
 * removed; without it a service that is not offered stays where it is.
 */
export function diffOf(
  known: readonly Service[],
  offered: readonly Service[],
  replacedId?: string,
): ServiceDiff[] {
  const byName = new Map(known.map((one) => [one.name, one]));
  const names = new Set(offered.map(({ name }) => name));
  const gone = known.filter(({ name, deployment_id: id }) =>
    replacedId !== undefined && id === replacedId && !names.has(name)
  );
  return [
    ...offered.map((service) => serviceDiff(byName.get(service.name), service)),
    ...gone.map((service): ServiceDiff => ({
      ...{ name: service.name, kind: "removed", changes: [], service },
      handlers: service.handlers.map(({ name }) => ({ name, kind: "removed", changes: [] })),
    })),
  ];
}

function serviceDiff(before: Service | undefined, after: Service): ServiceDiff {
  const { name } = after;
  const handlers = handlersDiff(before?.handlers ?? [], after.handlers);
  if (!before) return { name, kind: "added", changes: [], service: after, handlers };
  const changes = changesOf(before, after);
  const isSame = changes.length === 0 && handlers.every(({ kind }) => kind === "same");
  return { name, kind: isSame ? "same" : "changed", changes, service: after, handlers };
}

function handlersDiff(before: readonly Handler[], after: readonly Handler[]): Diff[] {
  const byName = new Map(before.map((one) => [one.name, one]));
  const names = new Set(after.map(({ name }) => name));
  const kept = after.map((handler): Diff => {
    const old = byName.get(handler.name);
    if (!old) return { name: handler.name, kind: "added", changes: [] };
    const changes = changesOf(old, handler);
    return { name: handler.name, kind: changes.length === 0 ? "same" : "changed", changes };
  });
  const gone = before.filter(({ name }) => !names.has(name))
    .map(({ name }): Diff => ({ name, kind: "removed", changes: [] }));
  return [...kept, ...gone];
}

function changesOf(before: object, after: object): Change[] {
  const [old, now] = [optionsOf(before), optionsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((option) => {
    const [was, is] = [old.get(option), now.get(option)];
    if (was === is) return [];
    return [{
      option,
      ...(was !== undefined && { before: was }),
      ...(is !== undefined && { after: is }),
    }];
  });
}

/** Options as texts by their names; those of a group as `retry_policy.max_attempts`. */
function optionsOf(record: object): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(record)) {
    if (NO_OPTIONS.has(name) || value === undefined || value === null) continue;
    const isGroup = typeof value === "object" && !name.endsWith("_schema");
    if (!isGroup) found.set(name, textOf(value));
    else {
      for (const [part, one] of Object.entries(value)) {
        if (one !== null) found.set(`${name}.${part}`, textOf(one));
      }
    }
  }
  return found;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** How many of each kind: `2 added, 1 changed`. */
export function summaryOf(diffs: readonly Diff[]): string {
  const kinds: readonly DiffKind[] = ["added", "removed", "changed", "same"];
  const words = { added: "added", removed: "removed", changed: "changed", same: "unchanged" };
  return kinds.flatMap((kind) => {
    const count = diffs.filter((diff) => diff.kind === kind).length;
    return count === 0 ? [] : [`${count} ${words[kind]}`];
  }).join(", ");
}
