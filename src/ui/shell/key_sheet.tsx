import { signal } from "@preact/signals";
import { type Keys, keySets } from "../state/keys.ts";
import { Dialog } from "../widgets/dialog.tsx";

const isOpen = signal(false);

export function openKeySheet(): void {
  isOpen.value = true;
}

/** Keys by their titles. Tables have the same ones, which hold in the one with the focus. */
function sections(): (readonly [string, Keys])[] {
  const byTitle = Map.groupBy(keySets.value, ({ title }) => title);
  return [...byTitle].map(([title, sets]) =>
    [title, Object.assign({}, ...sets.map(({ keys }) => keys))] as const
  );
}

/** Keys that hold now, by sections. `titles`: of these only. */
export function KeyList({ titles }: { readonly titles?: readonly string[] }) {
  const shown = sections().filter(([title]) => titles?.includes(title) ?? true);
  return (
    <>
      {shown.map(([title, keys]) => (
        <section key={title}>
          {!titles && <h3>{title}</h3>}
          <dl class="keys">
            {Object.entries(keys).map(([name, { label }]) => (
              <div key={name}>
                <dt>{name.split(" ").map((one) => <kbd key={one}>{one}</kbd>)}</dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </>
  );
}

/** All keys that hold on this page. */
export function KeySheet() {
  return (
    <Dialog title="Keys" isOpen={isOpen.value} onClose={() => void (isOpen.value = false)}>
      {isOpen.value && <KeyList />}
      <p>
        Keys without Ctrl can be switched off in the <a href="settings">settings</a>.
      </p>
    </Dialog>
  );
}
