import { useServices } from "../../data/catalog.ts";
import { callLink } from "../../data/objects.ts";
import type { Keyed } from "./statements.ts";

/** Handlers that are offered as links. On the page of an object its menu has the others. */
export const HANDLERS_MAX = 8;

/** Links to the playground, one for each handler. `but`: a handler that is left out. */
export function Calls({ keyed: { service, key, scope }, but }: {
  readonly keyed: Keyed;
  readonly but?: string;
}) {
  const services = useServices();
  const found = services.data?.services.find(({ name }) => name === service);
  if (!services.data) return null;
  if (!found) return <span>No deployment has this service.</span>;
  const handlers = found.handlers.filter(({ name }) => name !== but).slice(0, HANDLERS_MAX);
  return (
    <>
      {handlers.length > 0 && <span class="quiet">Call</span>}
      {handlers.map(({ name }) => (
        <a key={name} href={callLink(service, { call: name, key, scope })}>
          <bdi>{name}</bdi>
        </a>
      ))}
    </>
  );
}
