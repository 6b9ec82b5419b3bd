import { TYPES } from "../../data/catalog.ts";
import type { IconName } from "../../widgets/icon.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { type Change, type Diff, type DiffKind, type ServiceDiff, summaryOf } from "./diff.ts";

const WORDS: Readonly<Record<DiffKind, { readonly word: string; readonly icon: IconName }>> = {
  added: { word: "added", icon: "add" },
  removed: { word: "removed", icon: "remove" },
  changed: { word: "changed", icon: "edit" },
  same: { word: "unchanged", icon: "equal" },
};

function Kind({ kind }: { readonly kind: DiffKind }) {
  const { word, icon } = WORDS[kind];
  return (
    <span class={`diff-kind ${kind}`}>
      <Icon name={icon} /> {word}
    </span>
  );
}

/** What a registration changes, service by service. What stays as it is, is folded. */
export function DiffView({ diffs }: { readonly diffs: readonly ServiceDiff[] }) {
  return (
    <section class="diff" aria-label="What changes">
      <p>Services: {summaryOf(diffs) || "none"}</p>
      {diffs.map((diff) => <OneService key={diff.name} diff={diff} />)}
    </section>
  );
}

function OneService({ diff }: { readonly diff: ServiceDiff }) {
  const { name, kind, service, changes, handlers } = diff;
  return (
    <details open={kind !== "same"}>
      <summary>
        <Kind kind={kind} />{" "}
        <strong>
          <bdi>{name}</bdi>
        </strong>{" "}
        <small>{TYPES[service.ty]}; handlers: {summaryOf(handlers) || "none"}</small>
      </summary>
      <Changes changes={changes} />
      <ul>{handlers.map((one) => <OneHandler key={one.name} diff={one} />)}</ul>
    </details>
  );
}

function OneHandler({ diff: { name, kind, changes } }: { readonly diff: Diff }) {
  return (
    <li>
      <Kind kind={kind} /> <bdi>{name}</bdi>
      <Changes changes={changes} />
    </li>
  );
}

function Changes({ changes }: { readonly changes: readonly Change[] }) {
  if (changes.length === 0) return null;
  return (
    <ul>
      {changes.map(({ option, before, after }) => (
        <li key={option}>
          <code>{option}</code>: <Value text={before} /> → <Value text={after} />
        </li>
      ))}
    </ul>
  );
}

function Value({ text }: { readonly text: string | undefined }) {
  return text === undefined ? <span class="quiet">not set</span> : <LongText text={text} />;
}
