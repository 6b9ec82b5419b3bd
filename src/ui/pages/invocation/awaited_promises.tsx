import { abilities } from "../../data/server.ts";
import { DialogButton } from "../../widgets/dialog.tsx";
import { stepsIn, useKnownJournal, type Whole } from "./data.ts";

const COMPLETE = () => import("../keyed/complete_promise.tsx");
/** Characters of a name that a button has. */
const NAME_MAX = 40;
/** Promises that are offered. The page of its workflow has the others. */
const OFFERED_MAX = 5;

/** The promises that an invocation of a workflow waits for: they can be completed from here. */
export function AwaitedPromises({ row, everyMs }: {
  readonly row: Whole;
  readonly everyMs: number;
}) {
  const { target_service_name: service, target_service_key: key = "", scope } = row;
  const isOpen = row.target_service_ty === "workflow" && row.status !== "completed";
  const { data } = useKnownJournal(row.id, everyMs, isOpen);
  if (!isOpen || !data || !abilities().hasPromiseRoutes) return null;
  const awaited = stepsIn(data).flatMap(({ promise, result }) =>
    promise !== undefined && result === "pending" ? [promise] : []
  );
  if (awaited.length === 0) return null;
  const keyed = { service, key, ...(scope !== undefined && { scope }) };
  return (
    <div class="row">
      <span>Waits for a promise of its workflow:</span>
      {[...new Set(awaited)].slice(0, OFFERED_MAX).map((name) => (
        <DialogButton key={name} load={COMPLETE} of={{ keyed, name }}>
          Complete <bdi>{name.slice(0, NAME_MAX)}</bdi>…
        </DialogButton>
      ))}
    </div>
  );
}
