import { type Deployment, type Service, useDeployments, useServices } from "../../data/catalog.ts";
import { EVERY_MS, type Used, useQuery } from "../../data/hooks.ts";
import { now } from "../../data/live.ts";
import { abilities } from "../../data/server.ts";
import { sql } from "../../data/sql.ts";
import { FailedReads } from "../../widgets/empty.tsx";
import { Page } from "../../widgets/page.tsx";
import { Attention } from "./attention.tsx";
import { failing, heldObjects, locks, queuesAndKafka } from "./causes.ts";
import { Counters } from "./counters.tsx";
import { deployed } from "./deployed.ts";
import { FirstRun } from "./first_run.tsx";
import { historyOf } from "./figures.ts";
import { Services } from "./services.tsx";
import {
  doneIn,
  type DoneRow,
  type HolderRow,
  holdersOf,
  OPEN_MAX,
  type OpenRow,
  openStatement,
  pausedStatement,
  QUEUES,
} from "./statements.ts";
import { Throughput } from "./throughput.tsx";

const OFTEN = { everyMs: EVERY_MS.overview };
/** Of what reads all that is open: 2 s for 300,000 invocations. */
const SELDOM_MS = 60_000;

/** Whether anything is wrong, what waits and for what, and how the services are. */
export default function Home() {
  const services = useServices();
  const deployments = useDeployments();
  const open = useQuery<OpenRow>(openStatement(), OFTEN);
  const done = useQuery<DoneRow>(doneIn("hour"), OFTEN);
  // A queue that is paused matters once something waits in it.
  const isWaiting = open.data?.some((row) => row.cause === "open" && row.status === "pending");
  const hasQueues = isWaiting === true && abilities().hasLimits;
  const queues = useQuery<OpenRow>(QUEUES, { everyMs: SELDOM_MS, isOn: hasQueues });
  const reads = [services, deployments, open, done, queues];
  const history = done.data && historyOf(done.data, "hour", done.at ?? now.value);
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
          {history && <Throughput hour={history} />}
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
    ...locks(held, holders.data),
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
