import { entryType } from "../../model/journal.ts";
import { printMessageType } from "../../wire/message_type.ts";

const names = new Map(
  Object.values(entryType).map((type) => [type as number, nameOf(type)]),
);

/** `Call` for a call and for its completion. Types that are no entry's have no name. */
export function entryName(type: number): string | undefined {
  return names.get(type);
}

/**
 * Whether entries of this type came from the service; the others are notifications
 * (docs/spec/service-protocol.md#message-types).
 */
export function isCommand(type: number): boolean {
  return type < 0x8000;
}

/** `Command: Call`, `Notification: Call` (docs/spec/queries.md#journal-entries). */
export function entryTypeName(type: number): string {
  return `${isCommand(type) ? "Command" : "Notification"}: ${entryName(type) ?? "Unknown"}`;
}

/** The type of an entry that cannot be decoded: damage on disk. */
export const UNREADABLE = "Unreadable";

/** Every type that an entry may be shown with. */
export const entryTypeNames: readonly string[] = [
  ...new Set([...Object.values(entryType).map(entryTypeName), UNREADABLE]),
];

function nameOf(type: number): string {
  const [name = ""] = printMessageType(type).split(" ");
  return name.replace(/(?:Command|Completion|Notification)$/, "");
}
