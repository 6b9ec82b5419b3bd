import { useId, useState } from "preact/hooks";
import type { Handler } from "../../../data/catalog.ts";
import type { Call } from "./request.ts";
import { fieldOf } from "./schema.ts";
import { SchemaForm } from "./schema_form.tsx";

interface BodyProps {
  readonly handler: Handler;
  readonly call: Call;
  readonly change: (call: Call) => void;
}

/** The input of a handler: a form where its schema is known, and the text of it in any case. */
export function BodyField({ handler, call, change }: BodyProps) {
  const field = fieldOf(handler.input_json_schema);
  const [isRaw, setRaw] = useState(field === undefined || parsed(call.body) === undefined);
  const value = parsed(call.body)?.value;
  const canForm = field !== undefined && (call.body === "" || parsed(call.body) !== undefined);
  return (
    <>
      {field && (
        <button
          type="button"
          class="link"
          disabled={!canForm}
          onClick={() => setRaw(!isRaw)}
        >
          {isRaw ? "Edit as a form" : "Edit as JSON"}
        </button>
      )}
      {field && !isRaw
        ? (
          <SchemaForm
            field={field}
            value={value}
            onChange={(next) =>
              change({ ...call, body: next === undefined ? "" : JSON.stringify(next, null, 2) })}
          />
        )
        : <Raw {...{ handler, call, change }} />}
    </>
  );
}

function Raw({ call, change }: BodyProps) {
  const id = useId();
  const isJson = call.contentType.includes("json");
  const isWrong = isJson && call.body !== "" && parsed(call.body) === undefined;
  return (
    <div class="field">
      <label for={id}>Input ({call.contentType})</label>
      <textarea
        id={id}
        class="code"
        rows={6}
        spellcheck={false}
        placeholder={isJson ? '"text", 1, {"name": "value"}; empty sends nothing' : ""}
        value={call.body}
        onInput={({ currentTarget }) => change({ ...call, body: currentTarget.value })}
      />
      {isWrong && <small role="status">This is not JSON. It is sent as it is.</small>}
      <label>
        Content type
        <input
          value={call.contentType}
          onInput={({ currentTarget }) => change({ ...call, contentType: currentTarget.value })}
        />
      </label>
    </div>
  );
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
