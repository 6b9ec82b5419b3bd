import { actOnOne, change } from "../../data/act.ts";
import type { Command } from "../../data/commands.ts";
import { callLink } from "../../data/objects.ts";
import { sql } from "../../data/sql.ts";
import { link, linkWith } from "../../state/router.ts";
import { toast } from "../../state/toasts.ts";
import type { MenuItem } from "../../widgets/menu.tsx";
import type { Whole } from "./data.ts";

/** What is asked about before it is done. `label`: on the button that does it. */
export interface Question extends Pick<Command, "label" | "about"> {
  readonly title: string;
  readonly run: () => void;
}

/** What is rarely done to an invocation, and where else it leads. */
export function moreActions(
  row: Whole,
  onDone: () => void,
  ask: (question: Question) => void,
): readonly MenuItem[] {
  const { id, target_service_name: service, target_handler_name: call } = row;
  const { target_service_key: key, scope } = row;
  const handler = key === undefined
    ? linkWith(link("services", service), { call })
    : callLink(service, { call, key, scope });
  const { text } = sql`SELECT * FROM sys_invocation WHERE id = ${id}`;
  return [
    ...resumeElsewhere(row, onDone),
    ...purgeJournal(row, onDone, ask),
    { label: "Call its handler", to: handler },
    { label: "Its row in SQL", to: linkWith(link("sql"), { q: text }) },
    { label: "Copy a link to this view", run: copyAddress },
  ];
}

/** An invocation goes on where it began, unless it is told otherwise: a fix may be deployed meanwhile. */
function resumeElsewhere(row: Whole, onDone: () => void): readonly MenuItem[] {
  // Elsewhere it is refused.
  const isStopped = ["paused", "suspended"].includes(row.status);
  if (!isStopped || row.pinned_deployment_id === undefined) return [];
  const command = { verb: "resume", label: "Resume" } as const;
  const run = () => void actOnOne(command, row.id, onDone, "deployment=latest");
  return [{ label: "Resume on the latest deployment", run }];
}

function purgeJournal(
  { id, status, journal_size: size }: Whole,
  onDone: () => void,
  ask: (question: Question) => void,
): readonly MenuItem[] {
  if (status !== "completed" || !size) return [];
  const path = `invocations/${encodeURIComponent(id)}/purge-journal`;
  const run = () => void change(path, { method: "PATCH" }, "Purge the journal: done").then(onDone);
  const about = "What it did step by step is deleted now. Its result stays.";
  return [{
    label: "Purge the journal…",
    run: () => ask({ title: "Purge the journal", label: "Purge", about, run }),
    isDangerous: true,
  }];
}

function copyAddress(): void {
  navigator.clipboard.writeText(location.href).then(
    () => toast("done", "The address is copied"),
    () => toast("failed", "The browser does not allow to copy"),
  );
}
