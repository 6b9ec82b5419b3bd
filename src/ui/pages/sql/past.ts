import { signal } from "@preact/signals";

const STORED = "perdure.statements";
const STATEMENTS_MAX = 50;
/** A longer statement is not kept: the browser's storage is small. */
const TEXT_MAX = 20_000;

/** The statements that were run in this browser, the last one first. */
export const statements = signal<readonly string[]>(stored());

/** Keeps a statement in this browser, in front of all others. */
export function keep(text: string): void {
  if (text.length > TEXT_MAX) return;
  const others = statements.value.filter((one) => one !== text);
  statements.value = [text, ...others].slice(0, STATEMENTS_MAX);
  store();
}

/** Forgets all of them. */
export function forget(): void {
  statements.value = [];
  store();
}

function store(): void {
  try {
    localStorage.setItem(STORED, JSON.stringify(statements.value));
  } catch {
    // Forbidden or full: they are kept for this page.
  }
}

function stored(): string[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(STORED) ?? "[]");
    return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
