import { waitingOf } from "../../data/invocations.ts";
import { place, setQuery } from "../../state/router.ts";
import { durationText } from "../../widgets/duration.ts";
import { LongText } from "../../widgets/json_tree.tsx";
import { NamedTexts } from "../../widgets/named_texts.tsx";
import { StatusBadge, statusOf } from "../../widgets/status.tsx";
import { Tabs } from "../../widgets/tabs.tsx";
import { Moment } from "../../widgets/time.tsx";
import type { InvocationFile } from "../invocation/export/file.ts";
import { Opened } from "../invocation/opened.ts";
import { spentTexts } from "../invocation/spent.ts";
import { stepsOf } from "../invocation/steps.ts";
import { tabsOf } from "../invocation/tabs.tsx";
import { FileState } from "./state.tsx";

/** Tabs of an invocation whose contents a file does not have. */
const LIVE_TABS = ["calls"];

/** An invocation as its file has it, with the tabs of its page. */
export default function Shown(
  { file, name }: { readonly file: InvocationFile; readonly name: string },
) {
  const { invocation: row } = file;
  const tabs = [
    ...tabsOf(row, 0).filter(({ id }) => !LIVE_TABS.includes(id)),
    { id: "now", title: "State when saved", content: () => <FileState file={file} /> },
  ];
  const waiting = waitingOf(row);
  return (
    <Opened.Provider value={file}>
      <h2>
        <bdi>{row.target}</bdi>
      </h2>
      <p class="sentence">
        <code>{row.id}</code> <StatusBadge status={statusOf(row)} />
        {waiting !== undefined && <LongText text={waiting} />}
        {row.completion_failure !== undefined && (
          <span class="failure">
            <LongText text={row.completion_failure} />
          </span>
        )}
      </p>
      <p role="status" class="opened">
        Read only, from <bdi>{name}</bdi>: saved <Moment at={file.exported_at} /> on a server{" "}
        <bdi>{file.server.slice(0, SERVER_MAX)}</bdi>
        {file.has_values ? "." : ", without values."}
      </p>
      <NamedTexts entries={factsOf(file)} />
      <Tabs
        label="Of the invocation"
        tabs={tabs}
        chosen={place.value.query.get("tab") ?? "journal"}
        onChoose={(tab) => setQuery({ tab: tab === "journal" ? undefined : tab })}
      />
    </Opened.Provider>
  );
}

/** Characters of a version. */
const SERVER_MAX = 100;

/** What else is known of it. What it does not have is left out. */
function factsOf(
  { invocation: row, journal, events, exported_at: saved }: InvocationFile,
): (readonly [string, string])[] {
  const { created_at: accepted, running_at: from, completed_at: to } = row;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Accepted", accepted],
    ["Started", from],
    ["Completed", to],
    ["Took", from && to ? durationText(Math.max(0, Date.parse(to) - Date.parse(from))) : undefined],
    ...spentTexts(row, stepsOf(journal), { events, now: Date.parse(saved) }),
    ["Called by", row.invoked_by_target],
    ["Deployment", row.pinned_deployment_id],
    ["SDK", row.last_attempt_server],
    ["Restarts", row.restarted_from],
  ];
  return facts.flatMap(([name, text]) => text === undefined ? [] : [[name, text] as const]);
}
