import { addressOf, type Deployment, type Service } from "../../data/catalog.ts";
import { EVERY_MS, useGet } from "../../data/hooks.ts";
import { link } from "../../state/router.ts";
import { Id } from "../../widgets/id.tsx";
import type { Whole } from "./data.ts";

/** How its endpoint is registered, read once. Of the list, which has no answer 404 for a former one. */
const ONCE = { everyMs: EVERY_MS.once };

/** Where it runs: the address of its deployment, and which revision of its service that has. */
export function Deployed({ row, id }: { readonly row: Whole; readonly id: string }) {
  const { data } = useGet<{ readonly deployments: readonly Deployment[] }>("deployments", ONCE);
  const found = data?.deployments.find((one) => one.id === id);
  const of = found?.services.find(({ name }) => name === row.target_service_name);
  return (
    <>
      {found && (
        <>
          <bdi>{addressOf(found)}</bdi>
          {of && `, revision ${of.revision}`}
          {", "}
        </>
      )}
      <Id id={id} to={link("deployments", id)} />
    </>
  );
}

/**
 * ` of 70`, where the attempts of its handler are limited, and nothing where they are not or that is
 * not known: options are known of the latest revision, which it may not be bound to.
 */
export function OfAttempts({ row }: { readonly row: Whole }) {
  const { target_service_name: name, target_handler_name: handler } = row;
  const { data } = useGet<{ readonly services: readonly Service[] }>("services", ONCE);
  const service = data?.services.find((one) => one.name === name);
  const { pinned_deployment_id: pinned } = row;
  if (!service || (pinned !== undefined && pinned !== service.deployment_id)) return null;
  const own = service.handlers.find((one) => one.name === handler)?.retry_policy;
  const max = own?.max_attempts ?? service.retry_policy?.max_attempts;
  return max == null ? null : <>{" "}of {max}</>;
}
