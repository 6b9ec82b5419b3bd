import { ALIAS, header, OWN } from "../names.ts";
import type { HeaderPair } from "./journal.ts";
import { PRIORITY_DEFAULT, PRIORITY_MAX } from "./queue.ts";

/** The header of a request, or of a call of a handler, that sets its priority, in both spellings. */
export const PRIORITY_HEADER = header(OWN, "priority");
export const ALIAS_PRIORITY_HEADER = header(ALIAS, "priority");

const DIGIT = /^\d$/;
/** Characters of an invalid priority that a refusal shows. */
const SHOWN_MAX = 100;

/**
 * The priority that a text sets: 0, the lowest, to `PRIORITY_MAX`
 * (docs/spec/ingress.md#priority). Undefined: the default one. `problem` says what is allowed.
 */
export function readPriority(
  text: string,
): { readonly priority: number | undefined } | { readonly problem: string } {
  if (!DIGIT.test(text)) {
    const problem = `the priority '${text.slice(0, SHOWN_MAX)}' is invalid: expected an integer ` +
      `from 0, the lowest, to ${PRIORITY_MAX}`;
    return { problem };
  }
  const priority = Number(text);
  return { priority: priority === PRIORITY_DEFAULT ? undefined : priority };
}

/** What the headers of a call of a handler say of its priority, unread. Undefined: nothing. */
export function priorityIn(headers: readonly HeaderPair[]): string | undefined {
  let found: string | undefined;
  for (const [name, value] of headers) {
    const lower =
      name.length === PRIORITY_HEADER.length || name.length === ALIAS_PRIORITY_HEADER.length
        ? name.toLowerCase()
        : name;
    if (lower === PRIORITY_HEADER) return value;
    if (lower === ALIAS_PRIORITY_HEADER) found ??= value;
  }
  return found;
}
