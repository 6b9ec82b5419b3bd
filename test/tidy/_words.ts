/**
 * Finds words that `docs/glossary.md` replaces. A word of its column "Not" is searched for as a part
 * of any name (`parcelMax`, `sent_parcels`), of comments, documents and texts, unless this table says
 * otherwise: then it is ordinary English, or a term of an API, and private only in some places.
 */
export interface Ordinary {
  readonly why: string;
  /** The uses that are private. Absent: as the whole of a name in code. */
  readonly private?: RegExp;
  /** Folders in which the word is private. Absent: in all. Empty: only a reader can tell. */
  readonly within?: readonly string[];
}

const byReaders = (why: string): Ordinary => ({ why, within: [] });

export const ORDINARY: Readonly<Record<string, Ordinary>> = {
  line: byReaders("a line of text"),
  way: byReaders("a manner"),
  service: byReaders("a term: it groups handlers. It is private only where it means the endpoint"),
  history: byReaders("ordinary English, and the record of operations that a simulation checks"),
  frame: byReaders("a term of the wire. It is private only where it means an entry of a journal"),
  sleep: byReaders("a command of the SDK"),
  room: byReaders("free space in a buffer, a window or a pool"),
  order: byReaders("ordinary English, and a clause of SQL"),
  inbox: byReaders(
    "a term: those that wait for a lock. It is private only where it means the mailbox",
  ),
  tick: byReaders("a round of the event loop or of a timer"),
  node: byReaders(
    "Node.js, a part of a tree, and the table of members, which has this name on disk",
  ),
  "side effect": byReaders(
    "what a step of a handler does. It is private only for the engine's effects",
  ),
  look: { why: "ordinary English" },
  near: { why: "ordinary English" },
  far: { why: "ordinary English: as far as" },
  posts: { why: "the verb: one process posts to another" },
  world: {
    why: "tests have one: what a simulation or a suite stands on",
    within: ["src", "adapters"],
  },
  try: {
    why: "a keyword, and ordinary English as a verb",
    private: /\b(?:first|second|third|last|next|each|every|per|one|many) tr(?:y|ies)\b/i,
  },
  execution: {
    why: "the field is called durable execution, and code is executed",
    private: /\b(?:an|the|this|every) executions?\b(?! of)/i,
  },
  rest: { why: "ordinary English: the rest", private: /\b(?:rests|resting|comes? to rest)\b/i },
  lot: { why: "ordinary English: a lot", private: /(?<!\ba )\blots?\b/i },
  lane: {
    why: "a part of a hash, and what waits with one priority. It is private where it means a queue",
    private: /\blanes?\b/i,
    within: ["admin", "storage/log", "storage/owner.ts"].map((place) => `src/${place}`)
      .concat("adapters", "test/admin", "test/storage"),
  },
  tenant: { why: "ordinary English: data of a test", within: ["src/outbound"] },
  term: {
    why: "a part of an expression",
    within: ["src/partition", "src/storage", "src/placement", "src/ports.ts"],
  },
  guard: { why: "ordinary English", within: ["src/partition", "src/storage", "src/placement"] },
  flush: { why: "buffers and streams are flushed", within: ["src/storage/fold"] },
  gone: { why: "ordinary English", within: ["src/storage/overlay"] },
  told: { why: "ordinary English", within: ["src/introspection"] },
  want: { why: "a term: a read that a turn needs", within: ["src/introspection"] },
  top: { why: "ordinary English", within: ["src/introspection"] },
  late: { why: "ordinary English", within: ["src/outbound"] },
};

/** The words that the glossary replaces: its columns "Not", and what it calls not a term. */
export function wordsReplaced(glossary: string): readonly string[] {
  const words = new Set<string>();
  for (const line of glossary.split("\n").filter((line) => line.startsWith("| "))) {
    const cells = line.split("|").slice(1, -1).map((cell) => cell.trim());
    const [first = "", second = ""] = cells;
    const list = cells.length === 4 ? cells[3]! : /^Not (?:a )?terms?\b/.test(second) ? first : "";
    for (const word of list.split(",").map((one) => one.trim())) {
      if (/^[a-z]/.test(word)) words.add(word);
    }
  }
  return [...words];
}

/** A finder of one file's words: which of `words` stand in `text`, the content of `file`. */
export function finderOf(words: readonly string[]): (file: string, text: string) => string[] {
  const strict = words.filter((word) => !(word in ORDINARY));
  return (file, text) => {
    const parts = inParts(`${file}\n${text}`);
    const code = isCode(file) ? withoutTexts(text) : "";
    return [
      ...strict.filter((word) => anywhere(word).test(parts)),
      ...words.filter((word) => word in ORDINARY && isPrivate(word, file, parts, code)),
    ];
  };
}

function isPrivate(word: string, file: string, parts: string, code: string): boolean {
  const { private: pattern, within } = ORDINARY[word]!;
  if (within && !within.some((place) => file === place || file.startsWith(`${place}/`))) {
    return false;
  }
  return pattern ? pattern.test(parts) : new RegExp(`(?<![\\w$])${word}s?(?![\\w$])`).test(code);
}

/** In all forms that English gives a word, with any space between several. */
function anywhere(word: string): RegExp {
  return new RegExp(`\\b${word.replaceAll(" ", "(?:[\\s*-]|//)+")}(?:s|es|ed|d|n|ing)?\\b`, "i");
}

/** `batchMax`, `BATCH_MAX` and `#batch` have their parts as words. */
function inParts(text: string): string {
  return text.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ");
}

function isCode(file: string): boolean {
  return /\.(?:tsx?|mjs|js)$/.test(file);
}

/** Code without its comments and quoted texts, as nearly as that can be said without a parser. */
function withoutTexts(code: string): string {
  return code.replaceAll(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g,
    '""',
  );
}
