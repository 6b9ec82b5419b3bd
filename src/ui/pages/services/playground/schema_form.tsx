import { useId, useState } from "preact/hooks";
import { Check } from "../../../widgets/check.tsx";
import { type Field, initialOf, type Shape } from "./schema.ts";

interface FieldProps {
  readonly field: Field;
  readonly value: unknown;
  /** Called with undefined when the value is left out. */
  readonly onChange: (value: unknown) => void;
}

/** A form for a value of a schema. */
export function SchemaForm({ field, value, onChange }: FieldProps) {
  const { shape } = field;
  if (shape.kind === "object") return <ObjectField {...{ field, shape, value, onChange }} />;
  if (shape.kind === "list") return <ListField {...{ field, shape, value, onChange }} />;
  if (shape.kind === "flag") return <FlagField {...{ field, value, onChange }} />;
  return <Labeled {...{ field, value, onChange }} />;
}

function titleOf({ title, isRequired, name }: Field): string {
  return `${title || "Value"}${isRequired || name === "" ? "" : " (optional)"}`;
}

function Labeled({ field, value, onChange }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        <bdi>{titleOf(field)}</bdi>
      </label>
      <Control {...{ id, field, value, onChange }} />
      {field.about !== undefined && (
        <small>
          <bdi>{field.about}</bdi>
        </small>
      )}
    </div>
  );
}

function Control({ id, field: { shape, isRequired }, value, onChange }: FieldProps & {
  readonly id: string;
}) {
  switch (shape.kind) {
    case "choice":
      return <Choice {...{ id, shape, value, onChange, isRequired }} />;
    case "number":
      return (
        <input
          id={id}
          type="number"
          step={shape.isInteger ? 1 : "any"}
          value={value === undefined ? "" : String(value)}
          onInput={({ currentTarget: { value: text } }) =>
            onChange(text === "" ? undefined : Number(text))}
        />
      );
    case "text":
      return <Text {...{ id, shape, value, onChange, isRequired }} />;
    default:
      return <Raw {...{ id, value, onChange }} />;
  }
}

/** What a control for one kind of shape is given. */
interface ControlProps<Kind extends Shape["kind"]> {
  readonly id: string;
  readonly shape: Shape & { readonly kind: Kind };
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly isRequired: boolean;
}

function Text({ id, shape: { isLong }, value, onChange, isRequired }: ControlProps<"text">) {
  const text = typeof value === "string" ? value : "";
  const type = (typed: string) => onChange(typed === "" && !isRequired ? undefined : typed);
  if (!isLong) {
    return (
      <input
        id={id}
        value={text}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
    );
  }
  return (
    <textarea
      id={id}
      rows={1}
      value={text}
      onInput={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}

function Choice({ id, shape: { values }, value, onChange, isRequired }: ControlProps<"choice">) {
  return (
    <select
      id={id}
      value={String(values.indexOf(value))}
      onChange={({ currentTarget }) => onChange(values[Number(currentTarget.value)])}
    >
      {!isRequired && <option value="-1">–</option>}
      {values.map((one, at) => (
        <option key={at} value={String(at)}>
          {typeof one === "string" ? one : JSON.stringify(one)}
        </option>
      ))}
    </select>
  );
}

/** A part whose schema says nothing: any JSON. Until it is JSON, the value stays as it was. */
function Raw({ id, value, onChange }: {
  readonly id: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const [text, type] = useState(value === undefined ? "" : JSON.stringify(value));
  const [isWrong, mark] = useState(false);
  const read = (typed: string) => {
    type(typed);
    try {
      onChange(typed.trim() === "" ? undefined : JSON.parse(typed));
      mark(false);
    } catch {
      mark(true);
    }
  };
  return (
    <>
      <textarea
        id={id}
        rows={2}
        placeholder="JSON"
        aria-invalid={isWrong}
        value={text}
        onInput={({ currentTarget }) => read(currentTarget.value)}
      />
      {isWrong && <small role="status">This is not JSON yet.</small>}
    </>
  );
}

function FlagField({ field, value, onChange }: FieldProps) {
  return (
    <Check isOn={value === true} onSet={onChange}>
      <bdi>{titleOf(field)}</bdi>
    </Check>
  );
}

function ObjectField({ field, shape: { fields }, value, onChange }: FieldProps & {
  readonly shape: Shape & { readonly kind: "object" };
}) {
  const record = typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {};
  const set = (name: string, part: unknown) => {
    const { [name]: _, ...others } = record;
    const next = part === undefined ? others : { ...record, [name]: part };
    // An optional group that is empty is left out as a whole.
    const isEmpty = Object.keys(next).length === 0 && !field.isRequired && field.name !== "";
    onChange(isEmpty ? undefined : next);
  };
  return (
    <fieldset class="group">
      <legend>
        <bdi>{titleOf(field)}</bdi>
      </legend>
      {field.about !== undefined && (
        <small>
          <bdi>{field.about}</bdi>
        </small>
      )}
      {fields.map((one) => (
        <SchemaForm
          key={one.name}
          field={one}
          value={record[one.name]}
          onChange={(part) => set(one.name, part)}
        />
      ))}
    </fieldset>
  );
}

function ListField({ field, shape: { item }, value, onChange }: FieldProps & {
  readonly shape: Shape & { readonly kind: "list" };
}) {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  const add = () => onChange([...list, initialOf({ ...item, isRequired: true })]);
  return (
    <fieldset class="group">
      <legend>
        <bdi>{titleOf(field)}</bdi>
      </legend>
      {list.map((one, at) => (
        <div key={at} class="item">
          <SchemaForm
            field={{ ...item, name: String(at + 1), title: String(at + 1), isRequired: true }}
            value={one}
            onChange={(part) => onChange(list.with(at, part))}
          />
          <button type="button" onClick={() => onChange(list.toSpliced(at, 1))}>
            Remove {at + 1}
          </button>
        </div>
      ))}
      <button type="button" onClick={add}>Add to {field.title || "the list"}</button>
    </fieldset>
  );
}
