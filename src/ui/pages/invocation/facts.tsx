import type { ComponentChildren } from "preact";
import { termText } from "../../data/filter.ts";
import { now } from "../../data/live.ts";
import { keyedLinkOf } from "../../data/objects.ts";
import { link, linkWith } from "../../state/router.ts";
import { durationMs, durationText } from "../../widgets/duration.ts";
import { Id } from "../../widgets/id.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { Ago } from "../../widgets/time.tsx";
import { stepsIn, useEvents, useKnownJournal, type Whole } from "./data.ts";
import { Deployed, OfAttempts } from "./deployed.tsx";
import { spentTexts } from "./spent.ts";

interface Props {
  readonly row: Whole;
}

interface FactsProps extends Props {
  readonly everyMs: number;
}

/** What is known of it beside its journal. What it does not have is left out. */
export function Facts({ row, everyMs }: FactsProps) {
  return (
    <dl class="facts wide-facts">
      <Times row={row} />
      <SpentTimes row={row} everyMs={everyMs} />
      <Places row={row} />
      <Others row={row} />
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Times({ row }: Props) {
  const { created_at, running_at: from, completed_at: to, last_start_at, retry_count = 0 } = row;
  const tookMs = from && to ? Math.max(0, Date.parse(to) - Date.parse(from)) : undefined;
  return (
    <>
      <Fact name="Accepted">
        <Ago at={created_at} />
      </Fact>
      {from && (
        <Fact name="Started">
          <Ago at={from} />
        </Fact>
      )}
      {to && (
        <Fact name="Completed">
          <Ago at={to} />
        </Fact>
      )}
      {tookMs !== undefined && <Fact name="Took">{durationText(tookMs)}</Fact>}
      {!to && last_start_at && (
        <Fact name="Attempt">
          {String(retry_count)}
          <OfAttempts row={row} />, since <Ago at={last_start_at} />
        </Fact>
      )}
    </>
  );
}

/** What it has spent its time with. Its journal is read for it on every tab. */
function SpentTimes({ row, everyMs }: FactsProps) {
  const { data } = useKnownJournal(row.id, everyMs);
  const { data: events } = useEvents(row.id, everyMs);
  if (!data?.isWhole || !events) return null;
  return (
    <>
      {spentTexts(row, stepsIn(data), { events, now: now.value })
        .map(([name, text]) => <Fact key={name} name={name}>{text}</Fact>)}
    </>
  );
}

function Places({ row }: Props) {
  const { invoked_by, invoked_by_id: caller, invoked_by_target: target, restarted_from } = row;
  const { pinned_deployment_id: deployment, last_attempt_server: sdk } = row;
  const callees = linkWith(link("invocations"), { filter: termText("caller", [row.id]) });
  return (
    <>
      <OfWhat row={row} />
      <Fact name="Called by">
        <bdi>{caller ? target : invoked_by.replaceAll("_", " ")}</bdi>
        {caller && <Id id={caller} to={link("invocations", caller)} />}
      </Fact>
      <Fact name="It called">
        <a href={callees}>these</a>
      </Fact>
      {restarted_from && (
        <Fact name="Restarts">
          <Id id={restarted_from} to={link("invocations", restarted_from)} />
        </Fact>
      )}
      {deployment && (
        <Fact name="Deployment">
          <Deployed row={row} id={deployment} />
        </Fact>
      )}
      {sdk && <Fact name="SDK">{sdk}</Fact>}
    </>
  );
}

/** The service, object or workflow that it is of, which has a page. */
function OfWhat({ row }: Props) {
  const { target_service_ty: ty, target_service_name: service, target_service_key: key } = row;
  if (ty === "service" || key === undefined) {
    return (
      <Fact name="Service">
        <a href={link("services", service)}>
          <bdi>{service}</bdi>
        </a>
      </Fact>
    );
  }
  const isRun = ty === "workflow";
  const to = keyedLinkOf(isRun ? "workflows" : "objects", service, { key, scope: row.scope });
  return (
    <Fact name={isRun ? "Workflow" : "Object"}>
      <a href={to}>
        <LongText text={`${service}/${key}`} />
      </a>
    </Fact>
  );
}

/** What it has waited for, and how long: `lock 3 s, rate 1.2 s`. */
function waitedText(row: Whole): string {
  const waits = [
    ["lock", row.waited_for_lock],
    ["concurrency", row.waited_for_concurrency],
    ["rate", row.waited_for_rate],
    ["pause", row.waited_for_pause],
  ] as const;
  return waits.flatMap(([cause, time = ""]) => {
    const ms = durationMs(time);
    return ms ? [`${cause} ${durationText(ms)}`] : [];
  }).join(", ");
}

function Others({ row }: Props) {
  const retentionMs = durationMs(row.completion_retention ?? "");
  const waited = waitedText(row);
  return (
    <>
      {waited !== "" && <Fact name="Waited for">{waited}</Fact>}
      {row.scope !== undefined && (
        <Fact name="Scope">
          <bdi>{row.scope}</bdi>
        </Fact>
      )}
      {row.idempotency_key && (
        <Fact name="Idempotency key">
          <bdi>{row.idempotency_key}</bdi>
        </Fact>
      )}
      {row.trace_id && (
        <Fact name="Trace">
          <Id id={row.trace_id} />
        </Fact>
      )}
      {retentionMs ? <Fact name="Kept for">{durationText(retentionMs)}</Fact> : null}
    </>
  );
}
