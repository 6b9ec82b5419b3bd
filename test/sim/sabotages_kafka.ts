import { RESTARTS } from "./circumstances.ts";
import type { Sabotage } from "./sabotage.ts";

/** Attempts are soon used up. */
const LETTERS = { lettersAfter: 1, streamLost: 0.3 };

/** Broken ingestion of records (decision 052). */
export const SABOTAGES_KAFKA: readonly Sabotage[] = [
  {
    name: "a record that was taken is taken again",
    file: "engine/ingested.ts",
    find: "  if (offset < next) return true;\n",
    replace: "",
  },
  {
    name: "the row of a source is not written",
    file: "engine/ingested.ts",
    find: '  if (reached > row.next) turn.put("source", moved(row, event, reached));\n',
    replace: "",
  },
  {
    name: "an old batch takes the offset back",
    file: "engine/ingested.ts",
    find: "Math.max(row.next, first ? first.offset : next)",
    replace: "first ? first.offset : next",
    also: { find: "if (reached > row.next) turn", replace: "if (reached !== row.next) turn" },
  },
  {
    name: "what does not fit is answered as taken",
    file: "engine/ingested.ts",
    find: "first ? first.offset : next)",
    replace: "next)",
    under: { inboxMax: 2 },
  },
  {
    name: "what does not fit is taken all the same",
    file: "engine/ingested.ts",
    find: "first ? fresh.slice(0, room) : fresh",
    replace: "fresh",
    under: { inboxMax: 2 },
  },
  {
    name: "records are taken from the last to the first",
    file: "engine/ingested.ts",
    find: "for (const { request } of taken) {",
    replace: "for (const { request } of taken.reverse()) {",
  },
  {
    name: "the first record of a part is left out",
    file: "engine/ingested.ts",
    find: "for (const { request } of taken) {",
    replace: "for (const { request } of taken.slice(1)) {",
  },
  {
    name: "an inbox counts those that are completed",
    file: "partition/inboxes.ts",
    find: "    if (was !== undefined) this.#add(was, -1);\n",
    replace: "",
    under: { inboxMax: 2 },
  },
  {
    name: "an inbox counts those that are dropped as they end",
    file: "partition/inboxes.ts",
    find: "const is = isGone ? undefined : openOf(row);",
    replace: "const is = isGone && before ? openOf(before) : openOf(row);",
    under: { inboxMax: 2 },
  },
  {
    name: "an inbox does not count what was there before a boot",
    file: "partition/host.ts",
    find: "    await partition.inboxes.recover(store, lease);\n",
    replace: "",
    under: { ...RESTARTS, inboxMax: 2 },
  },
  {
    name: "a part is taken though the one before it is missing",
    file: "engine/ingested.ts",
    find: "  if (row.next < (event.after ?? 0)) return answer(turn, event, { next: row.next });\n",
    replace: "",
  },
  {
    name: "a part does not say which one is before it",
    file: "placement/router.ts",
    find: "trail?.ends.set(partition, next);",
    replace: "",
  },
  {
    name: "what a sidecar is done with is not written",
    file: "engine/ingested.ts",
    find: '  if (known !== row) turn.put("source", known);\n',
    replace: "",
    under: { poison: 0.3 },
  },
  {
    name: "all is done with when one partition has taken its part",
    file: "placement/router.ts",
    find: "last.every(({ homes }) => homes === last.length)",
    replace: "last.length > 0",
    under: { poison: 0.3 },
  },
  {
    name: "a batch is answered by the partition that is furthest",
    file: "placement/router.ts",
    find: "Math.min(next, ...taken.map((part) => part.next))",
    replace: "Math.min(next, Math.max(...taken.map((part) => part.next)))",
    under: { inboxMax: 2 },
  },
  {
    name: "a batch is split by chance",
    file: "placement/router.ts",
    find: "const partition = partitionOfId(record.request.id, this.#directory.partitions);",
    replace: "const partition = record.offset % this.#directory.partitions;",
  },
  {
    name: "a record whose attempts are used up leaves no letter",
    file: "engine/lifecycle/giving_up.ts",
    find: 'hasLetters ? "letter" : "kill"',
    replace: '"kill"',
    under: LETTERS,
  },
  {
    name: "the letter of an earlier attempt ends the invocation",
    file: "engine/lifecycle/dead_letter.ts",
    find: " || row.attempt !== attempt",
    replace: "",
    under: LETTERS,
  },
  {
    name: "a new life does not know who owes a letter",
    file: "partition/letters.ts",
    find: "if (!over.has(id) && !this.#owing.has(id)) this.#owing.set(id, 0);",
    replace: "",
    under: { ...LETTERS, ...RESTARTS },
  },
  {
    name: "a letter that was handed out is never handed out again",
    file: "partition/letters.ts",
    find: "if (claimedUntil <= now) ids.push(id);",
    replace: "if (claimedUntil === 0) ids.push(id);",
    under: { ...LETTERS, sidecarLost: 0.4 },
  },
];
