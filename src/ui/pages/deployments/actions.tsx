import { useState } from "preact/hooks";
import { change } from "../../data/act.ts";
import { addressOf } from "../../data/catalog.ts";
import { go, link } from "../../state/router.ts";
import { Confirm } from "../../widgets/dialog.tsx";
import type { Row } from "./state.tsx";

/** What is deleted is said in the question: so it is not refused for what uses it. */
const removalOf = (id: string) => `deployments/${id}?force=true`;

/** Pauses a deployment, or lets its invocations go on. */
export async function setPaused(row: Row, paused: boolean): Promise<void> {
  const done = `${addressOf(row)} ${paused ? "is paused" : "goes on"}`;
  await change(`deployments/${row.id}`, { method: "PATCH", body: { paused } }, done);
}

/** Asks before a deployment is deleted, and says what that does to what uses it. */
export function DeleteDialog({ row, onClose }: {
  readonly row: Row;
  readonly onClose: () => void;
}) {
  const address = addressOf(row);
  const remove = async () => {
    // First, for the page of what is gone would ask for it once more.
    go(link("deployments"));
    await change(removalOf(row.id), { method: "DELETE" }, `Deleted ${address}`);
  };
  return (
    <Confirm
      title="Delete the deployment"
      action="Delete"
      typed={address}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>
        <code>{row.id}</code> at <bdi>{address}</bdi> is deleted.
      </p>
      {row.pinned > 0 && (
        <p>
          <strong>{row.pinned}</strong>{" "}
          open invocations are pinned to it. They cannot go on: they fail at each retry until they
          are killed.
        </p>
      )}
      {row.latest.length > 0 && (
        <p>
          It serves the latest revision of{" "}
          <bdi>{row.latest.join(", ")}</bdi>. Each falls back to the newest deployment that has it,
          or disappears.
        </p>
      )}
    </Confirm>
  );
}

/** Asks before all drained deployments are deleted. */
export function PruneDialog({ rows: drained, onClose }: {
  readonly rows: readonly Row[];
  readonly onClose: () => void;
}) {
  // The operator confirms the deployments that the dialog first listed. Those in use again are left out.
  const [asked] = useState(() => new Set(drained.map(({ id }) => id)));
  const rows = drained.filter(({ id }) => asked.has(id));
  const prune = async () => {
    for (const row of rows) {
      await change(removalOf(row.id), { method: "DELETE" }, `Deleted ${addressOf(row)}`);
    }
  };
  return (
    <Confirm
      title="Delete drained deployments"
      action={`Delete ${rows.length}`}
      onConfirm={() => void prune()}
      onClose={onClose}
    >
      <p>No latest revision of a service and no open invocation uses them:</p>
      <ul>
        {rows.map((row) => (
          <li key={row.id}>
            <bdi>{addressOf(row)}</bdi> <code>{row.id}</code>
          </li>
        ))}
      </ul>
    </Confirm>
  );
}
