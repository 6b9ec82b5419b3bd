import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
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
  const [state, turn] = useState<"untouched" | "edited" | "closed">("untouched");
  const { title, about, textOf, usual } = option;
  const text = textOf(service);
  const isUsual = text === usual;
  return (
    <div class={isUsual ? "option" : "option changed"}>
      <dt>
        {title} <small>{about}</small>
      </dt>
      <dd>
        {state === "edited" && option.edit
          ? (
            <EditForm
              {...{ option, service, onChange, edit: option.edit }}
              {...(handler !== undefined && { handler })}
              onClose={() => turn("closed")}
            />
          )
          : (
            <>
              <span class="value">{text ?? "not known"}</span>
              <small>{isUsual ? "default" : `changed; default ${usual}`}</small>
              {option.edit
                ? (
                  <EditButton
                    title={title}
                    takesFocus={state === "closed"}
                    onClick={() => turn("edited")}
                  />
                )
                : <small>set in code</small>}
            </>
          )}
      </dd>
    </div>
  );
}

/**
 * A reference to an element that takes the focus when it appears. Not by `autofocus`: by the standard it counts
 * once in the life of a document, and only with the next frame, so that what is typed before is lost.
 */
function useFocus<T extends HTMLElement>(takesFocus = true): RefObject<T | null> {
  const element = useRef<T>(null);
  useLayoutEffect(() => {
    if (takesFocus) element.current?.focus();
  }, []);
  return element;
}

interface EditButtonProps {
  readonly title: string;
  /** Whether the form was just closed, which had the focus. */
  readonly takesFocus: boolean;
  readonly onClick: () => void;
}

function EditButton({ title, takesFocus, onClick }: EditButtonProps) {
  const button = useFocus<HTMLButtonElement>(takesFocus);
  return (
    <button ref={button} type="button" class="icon" aria-label={`Edit ${title}`} onClick={onClick}>
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
  const field = useFocus<HTMLInputElement & HTMLSelectElement>();
  if (edit.choices) {
    return (
      <select
        ref={field}
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
      ref={field}
      aria-label={option.title}
      pattern={edit.pattern}
      value={text}
      onInput={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}
