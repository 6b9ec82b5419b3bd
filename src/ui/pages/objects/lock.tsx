import { useState } from "preact/hooks";
import { actOn } from "../../data/act.ts";
import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { sql } from "../../data/sql.ts";
import { link } from "../../state/router.ts";
import { invocationColumn } from "../../widgets/columns.tsx";
import { Confirm } from "../../widgets/dialog.tsx";
import { FailedReads } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { Id } from "../../widgets/id.tsx";
import { Reason } from "../../widgets/reason.tsx";
import { StatusBadge, statusOf } from "../../widgets/status.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { Age, Ago } from "../../widgets/time.tsx";
import {
  holderOf,
  type HolderRow,
  type Keyed,
  QUEUE_MAX,
  queueOf,
  type QueueRow,
} from "../keyed/statements.ts";

/** Who holds the lock of an object, and what waits for it. */
export function LockAndQueue({ keyed }: { readonly keyed: Keyed }) {
  const use = { everyMs: EVERY_MS.list, about: { service: keyed.service } };
  const holder = useQuery<HolderRow>(holderOf(keyed), use);
  const queue = useQuery<QueueRow>(queueOf(keyed), use);
  return (
    <>
      <FailedReads reads={[holder, queue]} />
      {holder.data && <Lock holder={holder.data[0]} />}
      {queue.data && queue.data.length > 0 && <Queue rows={queue.data} />}
    </>
  );
}

function Lock({ holder }: { readonly holder: HolderRow | undefined }) {
  // The holder at the click: the lock may pass to another invocation before the operator confirms.
  const [asked, ask] = useState<HolderRow>();
  return (
    <>
      {holder
        ? <Holder holder={holder} onCancel={() => ask(holder)} />
        : <p>No invocation holds it.</p>}
      {asked && <CancelDialog holder={asked} onClose={() => ask(undefined)} />}
    </>
  );
}

interface HolderProps {
  readonly holder: HolderRow;
  readonly onCancel: () => void;
}

function Holder({ holder, onCancel }: HolderProps) {
  const { id, handler, running_at: since, waiting_reason: reason } = holder;
  return (
    <div class="row lock">
      <Icon name="lock" />
      <span>
        Locked <Age at={since} /> by <bdi>{handler}</bdi>
      </span>
      <Id id={id} to={link("invocations", id)} />
      <StatusBadge status={statusOf(holder)} />
      {reason !== undefined && <Reason text={reason} />}
      <button type="button" onClick={onCancel}>Cancel holder</button>
    </div>
  );
}

function CancelDialog({ holder: { id, handler }, onClose }: {
  readonly holder: HolderRow;
  readonly onClose: () => void;
}) {
  const about = `the invocation ${id} of ${handler}`;
  return (
    <Confirm
      title="Cancel holder"
      action="Cancel holder"
      onClose={onClose}
      onConfirm={() => void actOn("cancel", [sql`id = ${id}`], about)}
    >
      To {about}. Its handler learns of it, and can undo what it did. Then the next one starts.
    </Confirm>
  );
}

interface PlacedRow extends QueueRow {
  readonly place: number;
}

const COLUMNS: readonly Column<PlacedRow>[] = [
  { id: "place", title: "Place", isNumber: true, cell: ({ place }) => place },
  { id: "handler", title: "Handler", cell: ({ handler }) => <bdi>{handler}</bdi> },
  { ...invocationColumn(), isHeader: true },
  { id: "since", title: "Accepted", cell: ({ created_at: at }) => <Ago at={at} /> },
];

function Queue({ rows }: { readonly rows: readonly QueueRow[] }) {
  const placed = rows.map((row, at) => ({ ...row, place: at + 1 }));
  const count = rows.length < QUEUE_MAX ? String(rows.length) : `the first ${QUEUE_MAX}`;
  return (
    <section aria-labelledby="queue">
      <h2 id="queue">Queue: {count}, in their order</h2>
      <Table caption="Queue" columns={COLUMNS} rows={placed} idOf={({ id }) => id} />
    </section>
  );
}
