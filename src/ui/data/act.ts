import { type Toast, toast } from "../state/toasts.ts";
import { api, query, type Send } from "./client.ts";
import {
  type Command,
  commandMany,
  commandOne,
  COMMANDS,
  messageOf,
  type Outcome,
  type Verb,
} from "./commands.ts";
import { go, link } from "../state/router.ts";
import { refreshAll } from "./resource.ts";
import { type Sql, sql, where } from "./sql.ts";

/** Invocations that one command on criteria reaches. Beyond, it is given again. */
export const REACHED_MAX = 100_000;

/**
 * A command is accepted first, and what it leads to is there a moment later; on a busy server after
 * more than one. In ms.
 */
const LATER_MS = [1_000, 4_000];

function refreshSoon(): void {
  refreshAll();
  for (const ms of LATER_MS) setTimeout(refreshAll, ms);
}

/**
 * What takes a command back from those that it was done to: all that were named but the refused ones.
 * Undefined: nothing does.
 */
export function undoOf(
  verb: Verb,
  ids: readonly string[],
  failed: Outcome["failed"],
): Toast["action"] {
  const undo = COMMANDS.find((command) => command.verb === verb)?.undo;
  const back = COMMANDS.find((command) => command.verb === undo);
  const refused = new Set(failed.map(({ invocation_id: id }) => id));
  const done = ids.filter((id) => !refused.has(id));
  if (!back || done.length === 0) return undefined;
  return { label: "Undo", run: () => void takeBack(back, done) };
}

async function takeBack({ verb, label }: Command, ids: readonly string[]): Promise<void> {
  try {
    const { succeeded, failed: [first] } = await commandMany(verb, ids);
    const said = `${label}: done to ${succeeded} of ${ids.length}`;
    toast(first ? "failed" : "done", first ? `${said}. ${first.error}` : said);
  } catch (cause) {
    toast("failed", `${label}: ${messageOf(cause)}`);
  }
  refreshSoon();
}

/**
 * Does a command to all invocations that fit the criteria now, and says what became of it. `about`:
 * what they are, in words.
 */
export async function actOn(verb: Verb, criteria: readonly Sql[], about: string): Promise<void> {
  try {
    const found = await query<{ id: string }>(
      sql`SELECT id FROM sys_invocation ${where(criteria)} LIMIT ${REACHED_MAX}`,
    );
    const ids = found.map(({ id }) => id);
    const { succeeded, failed } = await commandMany(verb, ids);
    const [first] = failed;
    const said = `${verb}: done to ${succeeded} of ${found.length} ${about}`;
    const undo = undoOf(verb, ids, failed);
    toast(first ? "failed" : "done", first ? `${said}. ${first.error}` : said, undo);
  } catch (cause) {
    toast("failed", messageOf(cause));
  }
  refreshSoon();
}

/** Sends a request that changes something, and says what became of it. Answers whether it was done. */
export async function change(path: string, send: Send, done: string): Promise<boolean> {
  try {
    await api(path, send);
  } catch (cause) {
    toast("failed", messageOf(cause));
    return false;
  }
  toast("done", done);
  refreshSoon();
  return true;
}

/** Does a command, says what became of it, and goes to the new invocation of a restart. */
export async function actOnOne(
  { verb, label, undo }: Pick<Command, "verb" | "label" | "undo">,
  id: string,
  onDone: () => void,
  query = "",
): Promise<void> {
  try {
    const created = await commandOne(verb, id, query);
    const back = COMMANDS.find((command) => command.verb === undo);
    toast(
      "done",
      `${label}: done`,
      back && { label: "Undo", run: () => void actOnOne(back, id, onDone) },
    );
    if (created !== undefined) go(link("invocations", created));
  } catch (cause) {
    toast("failed", `${label}: ${messageOf(cause)}`);
  }
  onDone();
}
