import { useEffect, useRef } from "preact/hooks";
import { EVERY_MS } from "../../data/hooks.ts";
import { waitingOf } from "../../data/invocations.ts";
import { refreshAll } from "../../data/resource.ts";
import { server } from "../../data/server.ts";
import type { PageProps } from "../../routes.ts";
import { place, setQuery } from "../../state/router.ts";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { Id } from "../../widgets/id.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { Page } from "../../widgets/page.tsx";
import { Reason } from "../../widgets/reason.tsx";
import { StatusBadge, statusOf } from "../../widgets/status.tsx";
import { Tabs } from "../../widgets/tabs.tsx";
import { Age } from "../../widgets/time.tsx";
import { Actions } from "./actions.tsx";
import { askInvocation, useInvocation, useKnownJournal, type Whole } from "./data.ts";
import { AwaitedPromises } from "./awaited_promises.tsx";
import { Derived } from "./derived.tsx";
import { Facts } from "./facts.tsx";
import { tabsOf } from "./tabs.tsx";

const ID = /^inv_1[0-9A-Za-z]+$/;

/** Asks for the invocation and what its tab shows. */
export function ask({ id = "" }: PageProps["params"]): void {
  if (ID.test(id)) askInvocation(id, BY_ENTRY.includes(tabOf()));
}

/** One invocation: where it stands and why, what it did, what went wrong. */
export default function InvocationPage({ params: { id = "" } }: PageProps) {
  if (!ID.test(id)) return <Unknown id={id} />;
  return server.value ? <Known key={id} id={id} /> : <p class="loading" role="status">Loading…</p>;
}

function Known({ id }: { readonly id: string }) {
  const { data, error, refresh } = useInvocation(id);
  // At the same time, since its tab will ask for it.
  useKnownJournal(id, EVERY_MS.once, BY_ENTRY.includes(tabOf()));
  const row = data?.find((one) => one.id === id);
  if (data && !row && !error) return <Unknown id={id} />;
  return (
    <Page
      title={row ? <bdi>{row.target}</bdi> : "Invocation"}
      actions={row && <Actions row={row} onDone={refresh} />}
    >
      {error && <Failed error={error} onRetry={refresh} />}
      {row ? <Whole row={row} /> : !error && <p class="loading" role="status">Loading…</p>}
    </Page>
  );
}

function Whole({ row }: { readonly row: Whole }) {
  const everyMs = row.status === "completed" ? EVERY_MS.overview : EVERY_MS.invocation;
  useRefreshAt(row.status);
  const tab = tabOf();
  const onTab = (chosen: string) =>
    setQuery({
      tab: chosen === "journal" ? undefined : chosen,
      ...(!BY_ENTRY.includes(chosen) && { entry: undefined }),
    });
  return (
    <>
      <Sentence row={row} />
      <AwaitedPromises row={row} everyMs={everyMs} />
      <Facts row={row} everyMs={everyMs} />
      <Tabs label="Of the invocation" tabs={tabsOf(row, everyMs)} chosen={tab} onChoose={onTab} />
    </>
  );
}

/** Reads everything again when the status has changed: what ended has its last entries now. */
function useRefreshAt(status: string): void {
  const before = useRef(status);
  useEffect(() => {
    if (before.current !== status) refreshAll();
    before.current = status;
  }, [status]);
}

/** Tabs that show the entry of the address. */
const BY_ENTRY = ["journal", "travel"];

const tabOf = () => place.value.query.get("tab") ?? "journal";

/** Where it stands, and in a sentence why. */
function Sentence({ row }: { readonly row: Whole }) {
  const waiting = waitingOf(row);
  return (
    <p class="sentence" role="status">
      <Id id={row.id} isWhole /> <StatusBadge status={statusOf(row)} />{" "}
      {STANDING.includes(row.status) && <Age at={row.modified_at} />}{" "}
      {waiting !== undefined && <Reason text={waiting} />}
      {row.status === "backing-off" && <Retried row={row} />}
      <Derived row={row} />
      {row.completion_failure !== undefined && (
        <span class="failure">
          <LongText text={row.completion_failure} />
        </span>
      )}
    </p>
  );
}

/** Statuses in which nothing changes but the time. */
const STANDING = ["suspended", "paused"];

/** Where the last attempt failed, and with what if the sentence does not say it. */
function Retried({ row }: { readonly row: Whole }) {
  const { last_failure_related_command_type: type, last_failure_related_command_name: name } = row;
  return (
    <>
      {type !== undefined && (
        <code>
          <bdi>{`${type.toLowerCase()} ${name ?? ""}`}</bdi>
        </code>
      )}
      {row.waiting_reason === undefined && row.last_failure !== undefined && (
        <span class="failure">
          <LongText text={row.last_failure} />
        </span>
      )}
    </>
  );
}

function Unknown({ id }: { readonly id: string }) {
  return (
    <Page title="Invocation not found">
      <Empty title="The server has no invocation of this id.">
        <p>
          <code>{id}</code>
        </p>
        <p>
          A completed one is deleted when its retention is over, and with it its journal. The
          retention is a setting of its service.
        </p>
        <a href="invocations">All invocations</a>
      </Empty>
    </Page>
  );
}
