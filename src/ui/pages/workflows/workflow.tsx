import { useState } from "preact/hooks";
import { actOn } from "../../data/act.ts";
import { useServices } from "../../data/catalog.ts";
import { EVERY_MS, useResource } from "../../data/hooks.ts";
import { callLink, keyedOf } from "../../data/objects.ts";
import { sql } from "../../data/sql.ts";
import type { PageProps } from "../../routes.ts";
import { link } from "../../state/router.ts";
import { Confirm } from "../../widgets/dialog.tsx";
import { FailedReads } from "../../widgets/empty.tsx";
import { Id } from "../../widgets/id.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { Reason } from "../../widgets/reason.tsx";
import { StatusBadge, statusOf } from "../../widgets/status.tsx";
import { Ago } from "../../widgets/time.tsx";
import { KeyedPage } from "../keyed/keyed_page.tsx";
import { Recent } from "../keyed/recent.tsx";
import { StateView } from "../keyed/state_view.tsx";
import type { Keyed } from "../keyed/statements.ts";
import { findRun } from "./find_run.ts";
import { mainOf, type RunRow } from "./list.ts";
import { Promises } from "./promises.tsx";

/** A run of a workflow: where it stands, what it waits for, its state, and who talked to it. */
export default function WorkflowPage({ params }: PageProps) {
  const keyed = keyedOf(params);
  const { service, key, scope } = keyed;
  const services = useServices();
  const found = services.data?.services.find(({ name }) => name === service);
  const main = found ? mainOf(found) : "run";
  const place = `${service} ${scope ?? ""} ${key}`;
  return (
    <KeyedPage list="workflows" title="Workflows" keyed={keyed}>
      <FailedReads reads={[services]} />
      <Run key={`run ${place} ${main}`} keyed={keyed} main={main} />
      <Promises key={`promises ${place}`} keyed={keyed} main={main} />
      <StateView key={`state ${place}`} keyed={keyed} />
      <Recent keyed={keyed} title="Interactions" but={main} />
    </KeyedPage>
  );
}

function Run({ keyed, main }: { readonly keyed: Keyed; readonly main: string }) {
  const run = useResource<{ readonly row?: RunRow }>(
    `run ${JSON.stringify([keyed, main])}`,
    async (signal) => {
      const row = await findRun(keyed, main, signal);
      return row ? { row } : {};
    },
    { everyMs: EVERY_MS.list, about: { service: keyed.service } },
  );
  return (
    <>
      <FailedReads reads={[run]} />
      {run.data && <Found row={run.data.row} keyed={keyed} main={main} />}
    </>
  );
}

function Found({ row, keyed, main }: {
  readonly row: RunRow | undefined;
  readonly keyed: Keyed;
  readonly main: string;
}) {
  if (!row) {
    return (
      <p>
        No run with this id is stored: it did not start, or it was completed and its retention is
        over. <Again keyed={keyed} main={main} label="Start it in the playground" />
      </p>
    );
  }
  return <RunLine row={row} keyed={keyed} main={main} />;
}

function RunLine({ row, keyed, main }: {
  readonly row: RunRow;
  readonly keyed: Keyed;
  readonly main: string;
}) {
  const { id, created_at: since, completion_failure: failure, waiting_reason: reason } = row;
  return (
    <div class="row lock">
      <StatusBadge status={statusOf(row)} />
      <Id id={id} to={link("invocations", id)} />
      <span>
        accepted <Ago at={since} />
      </span>
      {reason !== undefined && <Reason text={reason} />}
      {failure !== undefined && <LongText text={failure} />}
      {row.status === "completed" && <Restart {...{ row, keyed, main }} />}
    </div>
  );
}

/** An id runs once. What was completed is purged, and then it is called again. */
function Restart({ row: { id }, keyed, main }: {
  readonly row: RunRow;
  readonly keyed: Keyed;
  readonly main: string;
}) {
  // The run at the click: another run may complete before the operator confirms.
  const [asked, ask] = useState<string>();
  return (
    <>
      <button type="button" onClick={() => ask(id)}>Purge, to run again…</button>
      {asked !== undefined && (
        <Confirm
          title="Purge the run"
          action="Purge"
          onClose={() => ask(undefined)}
          onConfirm={() => void actOn("purge", [sql`id = ${asked}`], "runs")}
        >
          <p>
            A workflow runs once for each id, so a run cannot be restarted as it is. Its result,
            journal, state and promises are deleted now. Then{" "}
            <Again keyed={keyed} main={main} label="call it again" />.
          </p>
        </Confirm>
      )}
    </>
  );
}

function Again({ keyed, main, label }: {
  readonly keyed: Keyed;
  readonly main: string;
  readonly label: string;
}) {
  const { service, key, scope } = keyed;
  return <a href={callLink(service, { call: main, key, scope })}>{label}</a>;
}
