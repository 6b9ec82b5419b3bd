import type { ComponentChildren } from "preact";
import type { Handler, Service } from "../../../data/catalog.ts";
import { hasScopes } from "../../../data/server.ts";
import { isCallable } from "../../../data/objects.ts";
import { setQuery } from "../../../state/router.ts";
import { Pairs } from "../../../widgets/pairs.tsx";
import { BodyField } from "./body_field.tsx";
import { type Call, takesNothing, urlOf } from "./request.ts";

interface FormProps {
  readonly service: Service;
  readonly handler: Handler;
  readonly call: Call;
  readonly change: (call: Call) => void;
  readonly isBusy: boolean;
  readonly onSend: () => void;
  readonly onStop: () => void;
  /** Beside the button. */
  readonly extra: ComponentChildren;
}

/** Everything that a call has. */
export function CallForm(props: FormProps) {
  const { service, handler, call, change, isBusy, onSend, onStop, extra } = props;
  const isKeyed = service.ty !== "Service";
  const isSendable = !isKeyed || isCallable(call.key);
  const submit = (event: Event) => {
    event.preventDefault();
    if (isSendable) onSend();
  };
  return (
    <form class="fields call" onSubmit={submit}>
      <Which {...props} />
      {!handler.public && <p role="note">It is private: the ingress refuses calls of it.</p>}
      {isKeyed && (
        <Text
          {...{ call, change, name: "key" }}
          label={service.ty === "Workflow" ? "Id of the workflow" : "Key of the object"}
          isRequired
        />
      )}
      {!takesNothing(handler) && <BodyField {...{ handler, call, change }} />}
      <More {...{ call, change }} />
      <Target {...{ call, service, isSendable }} />
      <div class="actions">
        <button type="submit" class="primary" disabled={isBusy || !isSendable}>
          {isBusy ? "Waiting…" : call.mode === "call" ? "Call" : "Send"}
        </button>
        {isBusy && <button type="button" onClick={onStop}>Stop waiting</button>}
        {isSendable && extra}
      </div>
    </form>
  );
}

/** Where the call goes, or why it cannot be sent. */
function Target({ call, service, isSendable }: Pick<FormProps, "call" | "service"> & {
  readonly isSendable: boolean;
}) {
  if (!isSendable) {
    return (
      <p role="note">
        No browser sends the key “{call.key}”: it takes it for a part of the path. Call it from a
        handler.
      </p>
    );
  }
  return (
    <code class="target">
      <bdi>POST {urlOf(call, service)}</bdi>
    </code>
  );
}

function More({ call, change }: Pick<FormProps, "call" | "change">) {
  return (
    <details open={call.scope !== ""}>
      <summary>Idempotency key{hasScopes() && ", scope"} and headers</summary>
      <Text {...{ call, change, name: "idempotencyKey" }} label="Idempotency key" />
      {(hasScopes() || call.scope !== "") && (
        <>
          <Text {...{ call, change, name: "scope" }} label="Scope" />
          <Text {...{ call, change, name: "limitKey" }} label="Limit key, which needs a scope" />
        </>
      )}
      <Pairs
        title="Headers"
        pairs={call.headers}
        onChange={(headers) => change({ ...call, headers })}
      />
    </details>
  );
}

/** Which handler, and whether its result is waited for. */
function Which({ service, handler, call, change }: FormProps) {
  return (
    <div class="which">
      <label>
        Handler
        <select
          value={handler.name}
          onChange={({ currentTarget }) => setQuery({ call: currentTarget.value })}
        >
          {service.handlers.map(({ name }) => <option key={name}>{name}</option>)}
        </select>
      </label>
      <label>
        How
        <select
          value={call.mode}
          onChange={({ currentTarget: { value } }) =>
            change({ ...call, mode: value === "send" ? "send" : "call" })}
        >
          <option value="call">Call and wait for the result</option>
          <option value="send">Send, and do not wait</option>
        </select>
      </label>
      {call.mode === "send" && (
        <Text {...{ call, change, name: "delay" }} label="Delay, such as 10s (optional)" />
      )}
    </div>
  );
}

function Text({ call, change, name, label, isRequired = false }: {
  readonly call: Call;
  readonly change: (call: Call) => void;
  readonly name: "key" | "delay" | "idempotencyKey" | "scope" | "limitKey";
  readonly label: string;
  readonly isRequired?: boolean;
}) {
  return (
    <label>
      {label}
      <input
        required={isRequired}
        value={call[name]}
        onInput={({ currentTarget }) => change({ ...call, [name]: currentTarget.value })}
      />
    </label>
  );
}
