import type { ComponentChildren } from "preact";

/** A check box in front of what it says. */
export function Check({ isOn, onSet, children }: {
  readonly isOn: boolean;
  readonly onSet: (isOn: boolean) => void;
  readonly children: ComponentChildren;
}) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ currentTarget }) => onSet(currentTarget.checked)}
      />
      {children}
    </label>
  );
}
