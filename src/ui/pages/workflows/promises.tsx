import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { abilities } from "../../data/server.ts";
import { type Sql, sql } from "../../data/sql.ts";
import { DialogButton } from "../../widgets/dialog.tsx";
import { Failed } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { Json, LongText } from "../../widgets/json_tree.tsx";
import { Calls } from "../keyed/calls.tsx";
import { HexValue } from "../keyed/state_value.tsx";
import { inScope, type Keyed } from "../keyed/statements.ts";

interface PromiseRow {
  readonly key: string;
  readonly completed: boolean;
  /** Hexadecimal. */
  readonly value?: string;
  /** Absent: the value is no text. */
  readonly value_utf8?: string;
  readonly failure?: string;
}

const COMPLETE = () => import("../keyed/complete_promise.tsx");
/** Characters of a name that a button has. */
const NAME_MAX = 40;

function promisesOf(keyed: Keyed): Sql {
  return sql`SELECT key, completed, completion_success_value AS value,
    completion_success_value_utf8 AS value_utf8, completion_failure AS failure
    FROM sys_promise WHERE service_name = ${keyed.service} AND service_key = ${keyed.key}
    AND ${inScope(keyed, sql`scope`)} ORDER BY key`;
}

/** The durable promises of a run, and how they are completed. */
export function Promises({ keyed, main }: { readonly keyed: Keyed; readonly main: string }) {
  const promises = useQuery<PromiseRow>(promisesOf(keyed), {
    everyMs: EVERY_MS.list,
    about: { service: keyed.service },
  });
  return (
    <section aria-labelledby="promises">
      <h2 id="promises">Promises</h2>
      {promises.error && <Failed error={promises.error} onRetry={promises.refresh} />}
      {promises.data?.length === 0 && <p class="quiet">It has used no promise.</p>}
      {promises.data && promises.data.length > 0 && (
        <>
          <dl class="entries">
            {promises.data.map((row) => <OnePromise key={row.key} row={row} keyed={keyed} />)}
          </dl>
        </>
      )}
      {promises.data && <Ways keyed={keyed} main={main} isUsed={promises.data.length > 0} />}
    </section>
  );
}

/** How promises are completed: by a handler of the workflow or, where the server can, from here. */
function Ways({ keyed, main, isUsed }: {
  readonly keyed: Keyed;
  readonly main: string;
  readonly isUsed: boolean;
}) {
  const { hasPromiseRoutes } = abilities();
  if (hasPromiseRoutes) {
    return (
      <div class="row">
        <DialogButton load={COMPLETE} of={{ keyed }}>Complete another promise…</DialogButton>{" "}
        <Calls keyed={keyed} but={main} />
      </div>
    );
  }
  return isUsed
    ? (
      <p class="row">
        The server has no route that resolves or rejects a promise from outside: a handler of the
        workflow does it. <Calls keyed={keyed} but={main} />
      </p>
    )
    : null;
}

function OnePromise({ row, keyed }: { readonly row: PromiseRow; readonly keyed: Keyed }) {
  const { key, completed, failure } = row;
  const [status, word] = !completed
    ? (["suspended", "waited for"] as const)
    : failure === undefined
    ? (["succeeded", "resolved"] as const)
    : (["failed", "rejected"] as const);
  return (
    <div>
      <dt>
        <bdi>{key}</bdi>{" "}
        <span class={`status ${status}`}>
          <Icon name={status} /> <span>{word}</span>
        </span>{" "}
        {!completed && abilities().hasPromiseRoutes && (
          <DialogButton load={COMPLETE} of={{ keyed, name: key }}>
            Complete <bdi>{key.slice(0, NAME_MAX)}</bdi>…
          </DialogButton>
        )}
      </dt>
      <dd>
        <Outcome row={row} />
      </dd>
    </div>
  );
}

function Outcome({ row: { key, value, value_utf8: text, failure } }: { readonly row: PromiseRow }) {
  if (failure !== undefined) return <LongText text={failure} />;
  if (text !== undefined) return <Json text={text} label={`value of ${key}`} />;
  if (value === undefined) return <>–</>;
  return <HexValue hex={value} />;
}
