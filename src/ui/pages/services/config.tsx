import { useState } from "preact/hooks";
import type { Service } from "../../data/catalog.ts";
import { api, ApiError } from "../../data/client.ts";
import { abilities } from "../../data/server.ts";
import { toast } from "../../state/toasts.ts";
import { Failed } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { type Edit, type Option, OPTIONS } from "./options.ts";

interface ConfigProps {
  /** What the options are of. Of a handler: its service, with the limits of the handler. */
  readonly service: Service;
  /** The handler, if they are of one. */
  readonly handler?: string;
  /** Called when something was changed. */
  readonly onChange: () => void;
}

/** What is in effect for a service, and what of it is not the default. Edited in place. */
export function Config({ service, onChange }: ConfigProps) {
  const shown = OPTIONS.filter(({ isOf, isControl }) =>
    (isOf?.(service) ?? true) && (!isControl || abilities().hasControls)
  );
  return (
    <section aria-labelledby="config">
      <h2 id="config">Configuration</h2>
      <dl class="options">
        {shown.map((option) => <Row key={option.name} {...{ option, service, onChange }} />)}
      </dl>
      {abilities().hasControls && <HandlerLimits {...{ service, onChange }} />}
      {service.info?.map(({ code, message }) => (
        <p key={code + message}>
          <Icon name="info" /> <code>{code}</code> {message}
        </p>
      ))}
      <small>
        “Default” is what a server has without settings. A change holds until the endpoint is
        registered again; an option that a handler sets itself stays.
      </small>
    </section>
  );
}

/** Limits of the handlers themselves, which hold beside those of the service. */
function HandlerLimits({ service, onChange }: ConfigProps) {
  const limits = OPTIONS.filter(({ isControl }) => isControl);
  return (
    <details class="handler-limits">
      <summary>Limits of handlers</summary>
      {service.handlers.map(({ name, concurrency, rate }) => {
        const { concurrency: _, rate: __, ...others } = service;
        const own = { ...others, ...(concurrency && { concurrency }), ...(rate && { rate }) };
        return (
          <section key={name} aria-label={`Limits of ${name}`}>
            <h3>
              <bdi>{name}</bdi>
            </h3>
            <dl class="options">
              {limits.map((option) => (
                <Row key={option.name} {...{ option, onChange, service: own, handler: name }} />
              ))}
            </dl>
          </section>
        );
      })}
    </details>
  );
}

function Row({ option, service, handler, onChange }: ConfigProps & { readonly option: Option }) {
  const [isEdited, edit] = useState(false);
  const { title, about, textOf, usual } = option;
  const text = textOf(service);
  const isUsual = text === usual;
  return (
    <div class={isUsual ? "option" : "option changed"}>
      <dt>
        {title} <small>{about}</small>
      </dt>
      <dd>
        {isEdited && option.edit
          ? (
            <EditForm
              {...{ option, service, onChange, edit: option.edit }}
              {...(handler !== undefined && { handler })}
              onClose={() => edit(false)}
            />
          )
          : (
            <>
              <span class="value">{text ?? "not known"}</span>
              <small>{isUsual ? "default" : `changed; default ${usual}`}</small>
              {option.edit
                ? <EditButton title={title} onClick={() => edit(true)} />
                : <small>set in code</small>}
            </>
          )}
      </dd>
    </div>
  );
}

function EditButton({ title, onClick }: { readonly title: string; readonly onClick: () => void }) {
  return (
    <button type="button" class="icon" aria-label={`Edit ${title}`} onClick={onClick}>
      <Icon name="edit" />
    </button>
  );
}

interface EditProps extends ConfigProps {
  readonly option: Option;
  readonly edit: Edit;
  readonly onClose: () => void;
}

/** Sends what changed and nothing else, so that no default becomes a value of its own. */
function EditForm({ option, edit, service, handler, onChange, onClose }: EditProps) {
  const [text, type] = useState(edit.begin(service));
  const [error, fail] = useState<ApiError>();
  const save = async (event: Event) => {
    event.preventDefault();
    if (text === edit.begin(service)) return onClose();
    try {
      const body = edit.patchOf(text);
      await api(pathOf(service, handler), { method: "PATCH", body });
      toast("done", `${option.title} of ${handler ?? service.name} changed`);
      onChange();
      onClose();
    } catch (cause) {
      fail(cause instanceof ApiError ? cause : new ApiError(0, String(cause)));
    }
  };
  return (
    <form class="edit" onSubmit={(event) => void save(event)}>
      <Field {...{ option, edit, text, type }} />
      <button type="submit" class="primary">Save</button>
      <button type="button" onClick={onClose}>Cancel</button>
      {edit.hint !== "" && <small>{edit.hint}</small>}
      {error && <Failed error={error} />}
    </form>
  );
}

function pathOf({ name }: Service, handler: string | undefined): string {
  const path = `services/${encodeURIComponent(name)}`;
  return handler === undefined ? path : `${path}/handlers/${encodeURIComponent(handler)}`;
}

function Field({ option, edit, text, type }: {
  readonly option: Option;
  readonly edit: Edit;
  readonly text: string;
  readonly type: (text: string) => void;
}) {
  if (edit.choices) {
    return (
      <select
        autofocus
        aria-label={option.title}
        value={text}
        onChange={({ currentTarget }) => type(currentTarget.value)}
      >
        {edit.choices.map((one) => <option key={one}>{one}</option>)}
      </select>
    );
  }
  return (
    <input
      autofocus
      aria-label={option.title}
      pattern={edit.pattern}
      value={text}
      onInput={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}
