import { signal } from "@preact/signals";
import type { Call } from "./request.ts";

/** A call that was made from this browser, with how it ended. */
export interface Past {
  readonly at: string;
  readonly call: Call;
  /** 0: there was no answer. */
  readonly status: number;
  readonly id?: string;
}

const STORED = "perdure.calls";
const CALLS_MAX = 20;
/** A larger body is not kept: the browser's storage is small. */
const BODY_MAX = 50_000;

/** The newest calls, the last one first. */
export const past = signal<readonly Past[]>(stored());

/** Keeps a call in this browser. */
export function keep(one: Past): void {
  if (one.call.body.length > BODY_MAX) return;
  past.value = [one, ...past.value].slice(0, CALLS_MAX);
  try {
    localStorage.setItem(STORED, JSON.stringify(past.value));
  } catch {
    // Forbidden or full: they are kept for this page.
  }
}

/** Forgets all of them. */
export function forget(): void {
  past.value = [];
  try {
    localStorage.removeItem(STORED);
  } catch {
    // Forbidden: nothing was stored.
  }
}

function stored(): Past[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(STORED) ?? "[]");
    return Array.isArray(list) ? list as Past[] : [];
  } catch {
    return [];
  }
}
