import { link } from "../../../state/router.ts";
import { Id } from "../../../widgets/id.tsx";
import { Ago } from "../../../widgets/time.tsx";
import { forget, past } from "./past.ts";
import type { Call } from "./request.ts";

/** Calls of a service that were made from this browser, to be made again. */
export function PastCalls({ service, onTake }: {
  readonly service: string;
  readonly onTake: (call: Call) => void;
}) {
  const mine = past.value.filter(({ call }) => call.service === service);
  if (mine.length === 0) return null;
  return (
    <details class="past">
      <summary>Earlier calls ({mine.length})</summary>
      <ul>
        {mine.map(({ at, call, status, id }) => (
          <li key={at}>
            <button type="button" class="link" onClick={() => onTake(call)}>
              {call.mode} <bdi>{call.handler}{call.key === "" ? "" : ` of ${call.key}`}</bdi>
            </button>{" "}
            {status === 0 ? "no answer" : status} · <Ago at={at} />{" "}
            {id !== undefined && <Id id={id} to={link("invocations", id)} />}
          </li>
        ))}
      </ul>
      <button type="button" onClick={forget}>Forget all</button>
      <small>They are kept by this browser.</small>
    </details>
  );
}
