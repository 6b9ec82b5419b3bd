import { useEffect, useRef, useState } from "preact/hooks";
import type { Handler, Service } from "../../../data/catalog.ts";
import { keyedOf } from "../../../data/objects.ts";
import { refreshAll } from "../../../data/resource.ts";
import { place, setQuery } from "../../../state/router.ts";
import { Copy } from "../../../widgets/id.tsx";
import { CallForm } from "./call_form.tsx";
import { AnswerView } from "./answer.tsx";
import { curlOf, typescriptOf } from "./client_code.ts";
import { PastCalls } from "./past_calls.tsx";
import { keep } from "./past.ts";
import { type Answer, type Call, contentTypeOf, send, takesNothing } from "./request.ts";
import { fieldOf, initialOf } from "./schema.ts";

/** Calls a handler and shows what it answers. The address names the handler: `?call=greet`. */
export default function Playground({ service }: { readonly service: Service }) {
  const named = place.value.query.get("call");
  const handler = service.handlers.find(({ name }) => name === named) ?? service.handlers[0];
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (named !== null) heading.current?.scrollIntoView();
  }, [named]);
  return (
    <section aria-labelledby="playground" class="playground">
      <h2 id="playground" ref={heading}>Playground</h2>
      {handler
        ? <OfHandler key={handler.name} service={service} handler={handler} />
        : <p>The service has no handlers.</p>}
    </section>
  );
}

/** The call that a handler's form begins with. The address may name its key and scope. */
function emptyCall(service: Service, handler: Handler): Call {
  const field = fieldOf(handler.input_json_schema);
  const body = field ? JSON.stringify(initialOf(field), null, 2) : "";
  const { key, scope = "" } = keyedOf({});
  return {
    ...{ service: service.name, handler: handler.name, key, scope, mode: "call", delay: "" },
    ...{ limitKey: "", idempotencyKey: "", headers: [], contentType: contentTypeOf(handler) },
    body: takesNothing(handler) ? "" : body ?? "",
  };
}

/** What became of the last call. */
interface Outcome {
  readonly answer?: Answer;
  readonly error?: string;
  readonly isBusy: boolean;
}

function useCall(service: Service) {
  const [outcome, setOutcome] = useState<Outcome>({ isBusy: false });
  const request = useRef<AbortController | undefined>(undefined);
  const run = async (call: Call) => {
    request.current?.abort();
    const mine = request.current = new AbortController();
    setOutcome({ isBusy: true });
    const at = new Date().toISOString();
    try {
      const answer = await send(call, service, mine.signal);
      keep({ at, call, status: answer.status, ...(answer.id && { id: answer.id }) });
      setOutcome({ answer, isBusy: false });
    } catch (cause) {
      if (mine !== request.current) return;
      if (!mine.signal.aborted) keep({ at, call, status: 0 });
      const error = mine.signal.aborted
        ? "You stopped waiting. The invocation goes on."
        : `The ingress does not answer: ${cause instanceof Error ? cause.message : cause}`;
      setOutcome({ error, isBusy: false });
    }
    refreshAll();
  };
  return { outcome, run, stop: () => request.current?.abort() };
}

function OfHandler({ service, handler }: {
  readonly service: Service;
  readonly handler: Handler;
}) {
  const [call, change] = useState(() => emptyCall(service, handler));
  const [form, redraw] = useState(0);
  const { outcome, run, stop } = useCall(service);
  const take = (earlier: Call) => {
    if (earlier.handler !== handler.name) setQuery({ call: earlier.handler });
    // One that an earlier version of the UI has kept lacks some fields.
    change({ ...emptyCall(service, handler), ...earlier });
    redraw(form + 1);
  };
  return (
    <>
      <CallForm
        key={form}
        {...{ service, handler, call, change }}
        isBusy={outcome.isBusy}
        onSend={() => void run(call)}
        onStop={stop}
        extra={
          <>
            <span class="copies">
              curl <Copy text={curlOf(call, service)} label="as curl" />
            </span>
            <span class="copies">
              TypeScript <Copy text={typescriptOf(call, service)} label="as TypeScript" />
            </span>
          </>
        }
      />
      {outcome.error !== undefined && <p role="alert">{outcome.error}</p>}
      {outcome.answer && <AnswerView answer={outcome.answer} />}
      <PastCalls service={service.name} onTake={take} />
    </>
  );
}
