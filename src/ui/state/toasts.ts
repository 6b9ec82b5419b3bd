import { signal } from "@preact/signals";

export interface Toast {
  readonly id: number;
  readonly kind: "done" | "failed";
  readonly text: string;
  /** Such as undo. */
  readonly action?: { readonly label: string; readonly run: () => void };
}

export const toasts = signal<readonly Toast[]>([]);

/** What went well leaves by itself; a failure stays until it is closed. */
const SHOWN_MS = 6_000;
let ids = 0;

/** Says what was done, or why not. It is read to those who do not see it. */
export function toast(kind: Toast["kind"], text: string, action?: Toast["action"]): void {
  const id = ++ids;
  toasts.value = [...toasts.value, { id, kind, text, ...(action && { action }) }];
  if (kind === "done") setTimeout(() => closeToast(id), SHOWN_MS);
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}
