import { change } from "../../data/act.ts";
import { type Service, TYPES } from "../../data/catalog.ts";
import { apiText, apiUrl, hasToken } from "../../data/client.ts";
import { messageOf } from "../../data/commands.ts";
import { EVERY_MS, useGet } from "../../data/hooks.ts";
import { refreshAll } from "../../data/resource.ts";
import { abilities } from "../../data/server.ts";
import type { PageProps } from "../../routes.ts";
import { link } from "../../state/router.ts";
import { toast } from "../../state/toasts.ts";
import { Empty, FailedReads } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { NamedTexts } from "../../widgets/named_texts.tsx";
import { Page } from "../../widgets/page.tsx";
import { save } from "../../widgets/save.ts";
import { Charts } from "./charts.tsx";
import { Config } from "./config.tsx";
import { Handlers } from "./handlers.tsx";
import { PlaygroundPart } from "./playground_part.tsx";
import { Revisions } from "./revisions.tsx";

/** One service: what it does now, how it is configured, and its revisions. */
export default function ServicePage({ params: { name = "" } }: PageProps) {
  const read = useGet<Service>(`services/${encodeURIComponent(name)}`, {
    everyMs: EVERY_MS.overview,
    about: "configuration",
  });
  const { data: service, error } = read;
  if (!service || service.name !== name) {
    return (
      <Page title="Service">
        <FailedReads reads={[read]} />
        {error?.status === 404 && (
          <Empty title={`There is no service ${name}`}>
            <a href={link("services")}>All services</a>
          </Empty>
        )}
      </Page>
    );
  }
  return (
    <Page title={<bdi>{name}</bdi>} actions={<Actions service={service} />}>
      <FailedReads reads={[read]} />
      <p class="badges">
        {TYPES[service.ty]} · revision {String(service.revision)} ·{" "}
        {service.public ? "public" : "private"}
        {service.paused && (
          <span class="status paused">
            <Icon name="paused" /> paused
          </span>
        )}
      </p>
      <About service={service} />
      <Handlers service={service} />
      <PlaygroundPart service={service} />
      <Charts service={name} />
      <Config service={service} onChange={refreshAll} />
      <Revisions service={service} />
    </Page>
  );
}

function Actions({ service: { name, paused = false } }: { readonly service: Service }) {
  const pause = () =>
    change(
      `services/${encodeURIComponent(name)}`,
      { method: "PATCH", body: { paused: !paused } },
      `${name} ${paused ? "goes on" : "is paused: what runs ends or suspends"}`,
    );
  return (
    <>
      {abilities().hasControls && (
        <button type="button" onClick={() => void pause()}>{paused ? "Resume" : "Pause"}</button>
      )}
      <OpenApi name={name} />
    </>
  );
}

/** The document of the service. A link sends no token, so where one is needed it is saved as a file. */
function OpenApi({ name }: { readonly name: string }) {
  const path = `services/${encodeURIComponent(name)}/openapi`;
  if (!hasToken()) {
    return (
      <a href={apiUrl(path)} target="_blank" rel="noreferrer">
        OpenAPI <Icon name="open" />
      </a>
    );
  }
  const read = () =>
    apiText(path).then(
      (text) => save(`${name}.openapi.json`, "application/json", text),
      (cause) => toast("failed", messageOf(cause)),
    );
  return <button type="button" onClick={() => void read()}>Save OpenAPI</button>;
}

/** What its authors say of it. */
function About({ service: { documentation, metadata = {} } }: { readonly service: Service }) {
  const entries = Object.entries(metadata);
  return (
    <>
      {documentation !== undefined && (
        <p>
          <LongText text={documentation} />
        </p>
      )}
      {entries.length > 0 && <NamedTexts entries={entries} />}
    </>
  );
}
