import { signal } from "@preact/signals";
import { keySets } from "../state/keys.ts";
import { Dialog } from "../widgets/dialog.tsx";

const isOpen = signal(false);

export function openKeySheet(): void {
  isOpen.value = true;
}

/** All keys that hold on this page. */
export function KeySheet() {
  return (
    <Dialog title="Keys" isOpen={isOpen.value} onClose={() => void (isOpen.value = false)}>
      {isOpen.value && keySets.value.map(({ title, keys }) => (
        <section key={title}>
          <h3>{title}</h3>
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
      <p>
        Keys without Ctrl can be switched off in the <a href="settings">settings</a>.
      </p>
    </Dialog>
  );
}
