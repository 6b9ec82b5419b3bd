import type { ComponentChildren } from "preact";
import { headerText } from "../../data/catalog.ts";
import { isPerdure } from "../../data/server.ts";
import { Check } from "../../widgets/check.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { Pairs } from "../../widgets/pairs.tsx";
import { isFunction, type Registration, type Wanted } from "./registration.ts";

interface FormProps {
  readonly wanted: Wanted;
  readonly want: (wanted: Wanted) => void;
  readonly registration: Registration;
  readonly isUpdate: boolean;
  /** What was refused. */
  readonly problem: ComponentChildren;
}

/** The address of an endpoint and how it is asked. */
export function Form({ wanted, want, registration, isUpdate, problem }: FormProps) {
  const check = (event: Event) => {
    event.preventDefault();
    void registration.check(wanted);
  };
  return (
    <form class="fields" onSubmit={check}>
      <label>
        Address of the endpoint, or ARN of a function
        <input
          autofocus
          type="url"
          required
          placeholder="http://localhost:9080"
          value={wanted.uri}
          onInput={({ currentTarget }) => want({ ...wanted, uri: currentTarget.value })}
        />
      </label>
      {isFunction(wanted) && <Role {...{ wanted, want }} />}
      <Flags {...{ wanted, want, isUpdate }} />
      <Pairs
        title="Headers of every request to it"
        pairs={wanted.headers}
        onChange={(headers) => want({ ...wanted, headers })}
      />
      <Kept {...{ wanted, want }} />
      {problem}
      <div class="actions">
        <button type="submit" class="primary" disabled={registration.isBusy}>
          {registration.isBusy ? "Asking the endpoint…" : "Check"}
        </button>
        <small>Nothing changes yet: what would change is shown first.</small>
      </div>
    </form>
  );
}

/** Headers that the deployment has: they are kept, or removed. A text is not shown, it may be a secret. */
function Kept({ wanted, want }: Pick<FormProps, "wanted" | "want">) {
  const { kept } = wanted;
  if (kept.length === 0) return null;
  return (
    <div>
      <ul class="plain" aria-label="Headers that are kept">
        {kept.map(([name, value], at) => (
          <li key={name}>
            <bdi>{name}</bdi>: <bdi>{headerText(value)}</bdi>{" "}
            <button
              type="button"
              class="icon"
              aria-label={`Remove ${name}`}
              onClick={() => want({ ...wanted, kept: kept.toSpliced(at, 1) })}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <small>Values are not shown. To replace one, add a header with its name.</small>
    </div>
  );
}

function Role({ wanted, want }: Pick<FormProps, "wanted" | "want">) {
  return (
    <label>
      ARN of the role to assume (optional)
      <input
        value={wanted.role}
        onInput={({ currentTarget }) => want({ ...wanted, role: currentTarget.value })}
      />
    </label>
  );
}

function Flags({ wanted, want, isUpdate }: Pick<FormProps, "wanted" | "want" | "isUpdate">) {
  const { isHttp11, isForced, isBreaking } = wanted;
  return (
    <div class="flags">
      <Check isOn={isHttp11} onSet={(to) => want({ ...wanted, isHttp11: to })}>Use HTTP/1.1</Check>
      <Check isOn={isForced} onSet={(to) => want({ ...wanted, isForced: to })}>
        {isUpdate
          ? "Take over what it serves now, whatever it served"
          : "Overwrite the deployment with this address (force)"}
      </Check>
      {!isUpdate && (
        <Check isOn={isBreaking} onSet={(to) => want({ ...wanted, isBreaking: to })}>
          {isPerdure()
            ? "Services may change their type (breaking)"
            : "Allow breaking changes (breaking)"}
        </Check>
      )}
    </div>
  );
}
