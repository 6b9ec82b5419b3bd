import { link } from "../../../state/router.ts";
import { durationText } from "../../../widgets/duration.ts";
import { Icon } from "../../../widgets/icon.tsx";
import { Id } from "../../../widgets/id.tsx";
import { Json } from "../../../widgets/json_tree.tsx";
import { NamedTexts } from "../../../widgets/named_texts.tsx";
import type { Answer } from "./request.ts";

/** What a call was answered: status, duration, the invocation, body and headers. */
export function AnswerView({ answer: { status, headers, body, ms, id } }: {
  readonly answer: Answer;
}) {
  const isGood = status < 400;
  return (
    <section class="answer" aria-label="Answer">
      <p role="status">
        <span class={`status ${isGood ? "succeeded" : "failed"}`}>
          <Icon name={isGood ? "succeeded" : "failed"} />
          <strong>{status}</strong>
        </span>{" "}
        after {durationText(ms)}
      </p>
      {id !== undefined && (
        <p>
          Invocation <Id id={id} to={link("invocations", id)} />
        </p>
      )}
      {body === "" ? <p>The body is empty.</p> : <Json text={body} label="Body" />}
      <details>
        <summary>Headers ({headers.length})</summary>
        <NamedTexts entries={headers} />
        <small>The browser shows those that the ingress allows a page to read.</small>
      </details>
    </section>
  );
}
