import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export interface Tab {
  readonly id: string;
  readonly title: string;
  /** Is called for the chosen one only. */
  readonly content: () => ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Tabs with one content at a time. Arrow keys go from one to the next. */
export function Tabs({ label, tabs, chosen, onChoose }: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}) {
  const prefix = useId();
  const at = Math.max(0, tabs.findIndex(({ id }) => id === chosen));
  const current = tabs[at]!;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = tabs[(at + step + tabs.length) % tabs.length]!;
    onChoose(next.id);
    document.getElementById(`${prefix}-${next.id}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ id, title }) => (
          <button
            key={id}
            id={`${prefix}-${id}`}
            type="button"
            role="tab"
            aria-selected={id === current.id}
            aria-controls={`${prefix}-content`}
            tabIndex={id === current.id ? 0 : -1}
            onClick={() => onChoose(id)}
          >
            {title}
          </button>
        ))}
      </div>
      <Panel prefix={prefix} tab={current} />
    </>
  );
}

function Panel({ prefix, tab }: { readonly prefix: string; readonly tab: Tab }) {
  return (
    <div id={`${prefix}-content`} role="tabpanel" aria-labelledby={`${prefix}-${tab.id}`}>
      {tab.content()}
    </div>
  );
}
