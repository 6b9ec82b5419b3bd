import { type Deployment, type Service, useDeployments, useServices } from "../../data/catalog.ts";
import { EVERY_MS, type Used, useQuery } from "../../data/hooks.ts";
import { now } from "../../data/live.ts";
import { abilities } from "../../data/server.ts";
import { sql } from "../../data/sql.ts";
import { durationText } from "../../widgets/duration.ts";
import { FailedReads } from "../../widgets/empty.tsx";
import { Page } from "../../widgets/page.tsx";
import { Sparkline } from "../../widgets/sparkline.tsx";
import { Attention } from "./attention.tsx";
import { failing, heldObjects, locks, queuesAndKafka } from "./causes.ts";
import { Counters } from "./counters.tsx";
import { deployed } from "./deployed.ts";
import { FirstRun } from "./first_run.tsx";
import { type Figures, type History, historyOf } from "./figures.ts";
import { boundText, perMinuteText, Services } from "./services.tsx";
import {
  DONE,
  type DoneRow,
  type HolderRow,
  holdersOf,
  OPEN_MAX,
  type OpenRow,
  openStatement,
  pausedStatement,
  QUEUES,
} from "./statements.ts";

const OFTEN = { everyMs: EVERY_MS.overview };
/** Of what reads all that is open: 2 s for 300,000 invocations. */
const SELDOM_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Whether anything is wrong, what waits and for what, and how the services are. */
export default function Home() {
  const services = useServices();
  const deployments = useDeployments();
  const open = useQuery<OpenRow>(openStatement(), OFTEN);
  const done = useQuery<DoneRow>(DONE, OFTEN);
  // A queue that is paused matters once something waits in it.
  const isWaiting = open.data?.some((row) => row.cause === "open" && row.status === "pending");
  const hasQueues = isWaiting === true && abilities().hasLimits;
  const queues = useQuery<OpenRow>(QUEUES, { everyMs: SELDOM_MS, isOn: hasQueues });
  const reads = [services, deployments, open, done, queues];
  const history = done.data && historyOf(done.data, done.at ?? now.value);
  // An answer from before is kept while there is no question: it is of queues that had something.
  const rows = [...open.data ?? [], ...hasQueues ? queues.data ?? [] : []];
  const all = services.data?.services;
  const known = deployments.data?.deployments ?? [];
  const isEmpty = all?.length === 0 && known.length === 0 && deployments.data !== undefined;
  return (
    <Page title="Home">
      <FailedReads reads={reads} />
      {isEmpty ? <FirstRun /> : open.data && (
        <>
          <Counters rows={rows} at={open.at} figures={history?.all} />
          <Causes
            rows={rows}
            services={all ?? []}
            deployments={known}
            isRead={[services, deployments, open, ...hasQueues ? [queues] : []].every(isAnswered)}
          />
          {history && <Throughput history={history} />}
          <Services all={all ?? []} deployments={known} rows={rows} history={history} />
        </>
      )}
    </Page>
  );
}

const isAnswered = ({ data, error }: Used<unknown>) => data !== undefined && error === undefined;

/** All causes, in the order of what is usually worst. The holders of locks are asked for if there are any. */
function Causes({ rows, services, deployments, isRead }: {
  readonly rows: readonly OpenRow[];
  readonly services: readonly Service[];
  readonly deployments: readonly Deployment[];
  /** Whether all of these are what the server has now. */
  readonly isRead: boolean;
}) {
  const held = heldObjects(rows, now.value);
  const holders = useQuery<HolderRow>(held.length === 0 ? sql`` : holdersOf(held), {
    ...OFTEN,
    isOn: held.length > 0,
  });
  const hasPaused = rows.some(({ cause, status }) => cause === "open" && status === "paused");
  const paused = useQuery<OpenRow>(pausedStatement(), { ...OFTEN, isOn: hasPaused });
  const causes = [
    ...failing(rows.filter(({ status }) => status !== "paused")),
    ...failing(hasPaused ? paused.data ?? [] : []),
    ...locks(held, holders.data ?? []),
    ...deployed(rows, services, deployments),
    ...queuesAndKafka(rows),
  ];
  const isCut = rows.filter(({ cause }) => cause === "open")
    .reduce((sum, { n = 0 }) => sum + Number(n), 0) >= OPEN_MAX;
  const note = isCut ? `Of ${OPEN_MAX.toLocaleString("en")} open invocations.` : undefined;
  return (
    <>
      <FailedReads reads={[holders, paused]} />
      <Attention
        causes={causes}
        isWhole={isRead && (!hasPaused || isAnswered(paused))}
        note={note}
      />
    </>
  );
}

function Throughput({ history: { all, spanMs } }: { readonly history: History }) {
  return (
    <section aria-labelledby="throughput">
      <h2 id="throughput">Throughput</h2>
      <p class="throughput">
        <Sparkline values={all.doneByTime} label={`Completed in the last hour: ${all.done}`} />
        <strong>{perMinuteText(all.donePerMinute)} per minute</strong>
        <span>p50 {boundText(all.p50)}</span>
        <span>p95 {boundText(all.p95)}</span>
        <span>failed {shareOf(all)}</span>
      </p>
      <p class="quiet">
        In the last{" "}
        {spanMs < HOUR_MS ? durationText(spanMs) : "hour"}: from when an invocation was accepted
        until it was completed. Those that were accepted more than a day ago do not count.
      </p>
    </section>
  );
}

function shareOf({ done, failed }: Figures): string {
  if (done === 0) return "none";
  return `${((failed / done) * 100).toLocaleString("en", { maximumFractionDigits: 1 })} %`;
}
