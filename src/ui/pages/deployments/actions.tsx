import { addressOf } from "../../data/catalog.ts";
import { api, ApiError } from "../../data/client.ts";
import { refreshAll } from "../../data/resource.ts";
import { go, link } from "../../state/router.ts";
import { toast } from "../../state/toasts.ts";
import { Confirm } from "../../widgets/dialog.tsx";
import type { Row } from "./state.tsx";

/** Does something, says how it went, and asks again for all that is shown. */
async function perform(done: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    toast("done", done);
    return true;
  } catch (cause) {
    toast("failed", cause instanceof ApiError ? cause.message : String(cause));
    return false;
  } finally {
    refreshAll();
  }
}

const removal = (id: string) => api(`deployments/${id}?force=true`, { method: "DELETE" });

/** Pauses a deployment, or lets its invocations go on. */
export async function setPaused(row: Row, paused: boolean): Promise<void> {
  const done = `${addressOf(row)} ${paused ? "is paused" : "goes on"}`;
  await perform(done, () => api(`deployments/${row.id}`, { method: "PATCH", body: { paused } }));
}

/** Asks before a deployment is deleted, and says what that does to what uses it. */
export function DeleteDialog({ row, onClose }: {
  readonly row: Row;
  readonly onClose: () => void;
}) {
  const address = addressOf(row);
  const remove = async () => {
    if (await perform(`Deleted ${address}`, () => removal(row.id))) go(link("deployments"));
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
export function PruneDialog({ rows, onClose }: {
  readonly rows: readonly Row[];
  readonly onClose: () => void;
}) {
  const prune = () =>
    perform(`Deleted ${rows.length} deployments`, async () => {
      for (const { id } of rows) await removal(id);
    });
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
