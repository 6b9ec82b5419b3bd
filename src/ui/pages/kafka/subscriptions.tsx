import { useState } from "preact/hooks";
import { change } from "../../data/act.ts";
import { filterLink } from "../../data/filter_link.ts";
import { Icon } from "../../widgets/icon.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { Ago } from "../../widgets/time.tsx";
import type { Cluster, PartitionRow, StateRow, Subscription } from "./data.ts";
import { linesOf } from "./properties.tsx";
import { EditOptions, SkipRecord, Subscribe, Unsubscribe } from "./subscription_dialogs.tsx";

interface Shown {
  readonly subscription: Subscription;
  /** Absent: the server does not say. */
  readonly state?: StateRow | undefined;
  readonly partitions: readonly PartitionRow[];
}

/** What calls which handler, how far it is, and what is wrong with it. */
export function Subscriptions({ clusters, subscriptions, states, partitions }: {
  readonly clusters: readonly Cluster[];
  readonly subscriptions: readonly Subscription[];
  readonly states: readonly StateRow[];
  readonly partitions: readonly PartitionRow[];
}) {
  const [isSubscribing, subscribe] = useState(false);
  return (
    <section aria-labelledby="subscriptions">
      <div class="row">
        <h2 id="subscriptions">Subscriptions</h2>
        {clusters.length > 0 && (
          <button type="button" onClick={() => subscribe(true)}>Subscribe…</button>
        )}
      </div>
      {subscriptions.length === 0 && <p class="quiet">No topic calls a handler.</p>}
      <ul class="subscriptions">
        {subscriptions.map((subscription) => (
          <OneSubscription
            key={subscription.id}
            subscription={subscription}
            state={states.find(({ id }) => id === subscription.id)}
            partitions={partitions.filter((row) => row.subscription_id === subscription.id)}
          />
        ))}
      </ul>
      {isSubscribing && <Subscribe clusters={clusters} onClose={() => subscribe(false)} />}
    </section>
  );
}

function OneSubscription(shown: Shown) {
  const { subscription, state, partitions } = shown;
  const { id, source, sink, options } = subscription;
  return (
    <li aria-label={`${source} to ${sink}`}>
      <div class="row">
        {state && <State name={state.state} />}
        <strong>
          <bdi>{source}</bdi>
        </strong>{" "}
        calls <bdi>{sink.replace("service://", "")}</bdi>
        <code>{id}</code>
        <Actions {...shown} />
      </div>
      {state?.last_error !== undefined && (
        <p class="row">
          <Icon name="warning" />
          <LongText text={state.last_error} />
          <Ago at={state.last_error_at} />
        </p>
      )}
      <p class="quiet">
        <bdi>{linesOf(options).replaceAll("\n", ", ")}</bdi>
      </p>
      {partitions.length > 0 && <Partitions rows={partitions} source={source} />}
      <a href={filterLink({ subscription: id })}>Its invocations</a>
    </li>
  );
}

const ICONS = { starting: "pending", running: "running", paused: "paused" } as const;

function State({ name }: { readonly name: string }) {
  return (
    <span class={`status ${name}`}>
      <Icon name={ICONS[name as keyof typeof ICONS] ?? "warning"} />
      <span>{name}</span>
    </span>
  );
}

type Open = "options" | "skip" | "delete";

function Actions({ subscription, state, partitions }: Shown) {
  const [open, set] = useState<Open>();
  const close = () => set(undefined);
  const isPaused = state?.paused ?? false;
  const label = isPaused ? "Resume" : "Pause";
  const path = `subscriptions/${encodeURIComponent(subscription.id)}`;
  const pause = () =>
    void change(path, { method: "PATCH", body: { paused: !isPaused } }, `${label}: it is so now`);
  const stopped = partitions.find(({ stopped_by: by }) => by === "poison");
  const dialog = { subscription, onClose: close };
  return (
    <span class="actions">
      {state && (
        <>
          <button type="button" onClick={pause}>{label}</button>
          <button type="button" onClick={() => set("options")}>Options…</button>
          <button type="button" onClick={() => set("skip")}>Skip a record…</button>
        </>
      )}
      <button type="button" onClick={() => set("delete")}>Delete…</button>
      {open === "options" && <EditOptions {...dialog} />}
      {open === "skip" && <SkipRecord {...dialog} stopped={stopped} />}
      {open === "delete" && <Unsubscribe {...dialog} />}
    </span>
  );
}

const COLUMNS: readonly Column<PartitionRow>[] = [
  { id: "topic", title: "Topic", cell: ({ topic }) => <bdi>{topic}</bdi> },
  {
    id: "partition",
    title: "Partition",
    isHeader: true,
    cell: ({ partition }) => String(partition),
  },
  { id: "position", title: "Position", isNumber: true, cell: (row) => String(row.position ?? "–") },
  { id: "end", title: "End", isNumber: true, cell: (row) => String(row.end_offset ?? "–") },
  { id: "lag", title: "Lag", isNumber: true, cell: (row) => String(row.lag ?? "–") },
  {
    id: "stopped",
    title: "Stands because of",
    cell: ({ stopped_by: by, stopped_message: message }) => (
      <bdi>{by === undefined ? "" : message ?? by}</bdi>
    ),
  },
  { id: "sidecar", title: "Sidecar", cell: ({ sidecar }) => <bdi>{sidecar}</bdi> },
  { id: "reported", title: "Reported", cell: ({ reported_at: at }) => <Ago at={at} /> },
];

function Partitions({ rows, source }: {
  readonly rows: readonly PartitionRow[];
  readonly source: string;
}) {
  return (
    <Table
      caption={`Partitions of ${source}`}
      columns={COLUMNS}
      rows={rows}
      idOf={({ topic, partition }) => `${topic} ${partition}`}
    />
  );
}
