import { useState } from "preact/hooks";
import { type Command, commandOne, COMMANDS, messageOf } from "../../data/commands.ts";
import type { Invocation } from "../../data/invocations.ts";
import { useKeys } from "../../state/keys.ts";
import { go, link } from "../../state/router.ts";
import { toast } from "../../state/toasts.ts";
import { Confirm } from "../../widgets/dialog.tsx";
import { type Status, statusOf } from "../../widgets/status.tsx";

/** What can be done to an invocation where it stands. What cannot be undone is asked about first. */
export function Actions({ row, onDone }: {
  readonly row: Invocation;
  readonly onDone: () => void;
}) {
  const [question, ask] = useState<Command>();
  const status = statusOf(row);
  const commands = COMMANDS.filter(({ statuses }) => statuses.includes(status));
  const start = (command: Command) =>
    command.isDangerous ? ask(command) : void run(command, row.id, onDone);
  useKeys(
    "Invocation",
    Object.fromEntries(
      commands.map((
        command,
      ) => [command.key, { label: labelFor(command, status), run: () => start(command) }]),
    ),
  );
  return (
    <>
      {commands.map((command) => (
        <button
          key={command.verb}
          type="button"
          class={command.isDangerous ? "danger" : "primary"}
          onClick={() => start(command)}
        >
          {labelFor(command, status)}
          {command.isDangerous ? "…" : ""}
        </button>
      ))}
      {question && (
        <Ask
          command={question}
          onConfirm={() => void run(question, row.id, onDone)}
          onClose={() => ask(undefined)}
        />
      )}
    </>
  );
}

function labelFor({ verb, label }: Command, status: Status): string {
  return verb === "resume" && status === "retrying" ? "Retry now" : label;
}

function Ask({ command: { label, about }, ...then }: {
  readonly command: Command;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  return (
    <Confirm title={`${label} this invocation`} action={label} {...then}>
      <p>{about}</p>
    </Confirm>
  );
}

/** Does a command, says what became of it, and goes to the new invocation of a restart. */
export async function run(
  { verb, label }: Pick<Command, "verb" | "label">,
  id: string,
  onDone: () => void,
  query = "",
): Promise<void> {
  try {
    const created = await commandOne(verb, id, query);
    toast("done", `${label}: done`);
    if (created !== undefined) go(link("invocations", created));
  } catch (cause) {
    toast("failed", `${label}: ${messageOf(cause)}`);
  }
  onDone();
}
