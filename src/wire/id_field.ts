import { BadId } from "../model/id.ts";

/** What is shown of an id that is none: it may be of any length. */
const SHOWN_MAX = 100;

/** How to read an id, and what to throw when it is none. */
interface Reading<T> {
  /** `awakeable id`: for the message. */
  readonly what: string;
  /** Throws `BadId`. */
  readonly parse: (text: string) => T;
  /** `why` is such as `bad awakeable id "foo": bad format` (docs/spec/ingress.md#awakeables). */
  readonly refuse: (why: string) => Error;
}

/** An id in a message, parsed. Throws what `refuse` makes of it. */
export function readId<T>(text: string, { what, parse, refuse }: Reading<T>): T {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    const shown = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
    throw refuse(`bad ${what} "${shown}": ${cause.message}`);
  }
}
