import { closeToast, toasts } from "../state/toasts.ts";
import { Icon } from "../widgets/icon.tsx";

/** What was done, and what failed. The region is always there, so that what enters it is read out. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, kind, text, action }) => (
        <div key={id} class={`toast ${kind}`}>
          <Icon name={kind === "done" ? "succeeded" : "failed"} />
          <span>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                closeToast(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="icon" aria-label="Close" onClick={() => closeToast(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
