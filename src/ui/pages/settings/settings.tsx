import { missing, server } from "../../data/server.ts";
import { KeyList } from "../../shell/key_sheet.tsx";
import { change, DEFAULTS, type Settings, settings } from "../../state/settings.ts";
import { Page } from "../../widgets/page.tsx";

type Choices = {
  readonly [K in keyof Settings]: {
    readonly title: string;
    /** By value, what it says. */
    readonly options: Readonly<Record<Settings[K], string>>;
  };
};

/** All settings, in the order of the page. */
const CHOICES: Choices = {
  theme: { title: "Theme", options: { system: "As the system", light: "Light", dark: "Dark" } },
  contrast: { title: "Contrast", options: { system: "As the system", more: "More" } },
  motion: { title: "Motion", options: { system: "As the system", less: "None" } },
  density: { title: "Rows", options: { dense: "Dense", comfortable: "Comfortable" } },
  times: { title: "Times", options: { local: "Local", utc: "UTC" } },
  refresh: {
    title: "Refresh",
    options: { live: "As things change", calm: "Every 30 s", off: "When it is asked for" },
  },
  keys: { title: "Keys without Ctrl", options: { on: "On", off: "Off" } },
};
const NAMES = Object.keys(CHOICES) as (keyof Settings)[];

/** What people choose for themselves, and what the server at hand is. */
export default function SettingsPage() {
  return (
    <Page
      title="Settings"
      actions={
        <button type="button" onClick={() => void (settings.value = DEFAULTS)}>
          Use the defaults
        </button>
      }
    >
      <div class="fields">
        {NAMES.map((name) => <Field key={name} name={name} />)}
      </div>
      <p>They are kept by this browser and sent nowhere.</p>
      <section>
        <h2>Keys on every page</h2>
        <KeyList titles={["Everywhere"]} />
        <p class="quiet">
          <kbd>?</kbd> lists those of the page that is shown.
        </p>
      </section>
      <About />
    </Page>
  );
}

function Field<K extends keyof Settings>({ name }: { readonly name: K }) {
  const { title, options } = CHOICES[name];
  return (
    <fieldset>
      <legend>{title}</legend>
      {Object.entries<string>(options).map(([value, label]) => (
        <label key={value} class="choice">
          <input
            type="radio"
            name={name}
            value={value}
            checked={settings.value[name] === value}
            onChange={() => change(name, value as Settings[K])}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

function About() {
  if (!server.value) return null;
  const { version, ingress_endpoint, features = {} } = server.value;
  const on = Object.entries(features).filter(([, isOn]) => isOn).map(([name]) => name);
  return (
    <section>
      <h2>This server</h2>
      <dl class="facts">
        <dt>Version</dt>
        <dd>{version}</dd>
        <dt>Ingress</dt>
        <dd>{ingress_endpoint ?? "not known"}</dd>
        <dt>Features that are on</dt>
        <dd>{on.length === 0 ? "none" : on.join(", ")}</dd>
      </dl>
      <h3>What it cannot do</h3>
      <ul>{missing().map((text) => <li key={text}>{text}</li>)}</ul>
    </section>
  );
}
