import { useServices } from "../../data/catalog.ts";
import { objectKeyOf } from "../../data/objects.ts";
import type { PageProps } from "../../routes.ts";
import { link, linkWith, place } from "../../state/router.ts";
import { LongText } from "../../widgets/json_tree.tsx";
import { Page } from "../../widgets/page.tsx";
import { Recent } from "../keyed/recent.tsx";
import { StateView } from "../keyed/state_view.tsx";
import { LockAndQueue } from "./lock.tsx";

/** Handlers that are offered as links. */
const HANDLERS_MAX = 8;

/** An object: who holds it, what waits for it, its state, and what it did. */
export default function ObjectPage({ params }: PageProps) {
  const { service = "" } = params;
  const key = objectKeyOf(params);
  const scope = place.value.query.get("scope") ?? undefined;
  const keyed = { service, key, scope };
  return (
    <Page
      title={
        <>
          <a href={link("objects")}>Objects</a> /{" "}
          <a href={linkWith("objects", { filter: `service:${service}` })}>{service}</a> /{" "}
          {key === "" ? <span class="quiet">(empty key)</span> : <LongText text={key} />}
        </>
      }
      actions={<Calls service={service} objectKey={key} />}
    >
      {scope !== undefined && (
        <p>
          In the scope <bdi>{scope}</bdi>
        </p>
      )}
      <LockAndQueue key={`lock ${service} ${key}`} keyed={keyed} />
      <StateView key={`state ${service} ${key}`} keyed={keyed} />
      <Recent keyed={keyed} title="Recent invocations" />
    </Page>
  );
}

/** Links to the playground, one for each handler. */
function Calls({ service, objectKey }: { readonly service: string; readonly objectKey: string }) {
  const services = useServices();
  const found = services.data?.services.find(({ name }) => name === service);
  if (!services.data) return null;
  if (!found) return <span>No deployment has this service.</span>;
  return (
    <>
      <span class="quiet">Call</span>
      {found.handlers.slice(0, HANDLERS_MAX).map(({ name }) => (
        <a key={name} href={linkWith(link("services", service), { call: name, key: objectKey })}>
          <bdi>{name}</bdi>
        </a>
      ))}
    </>
  );
}
