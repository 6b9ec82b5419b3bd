import { keyedOf } from "../../data/objects.ts";
import type { PageProps } from "../../routes.ts";
import { link, linkWith } from "../../state/router.ts";
import { LongText } from "../../widgets/json_tree.tsx";
import { Page } from "../../widgets/page.tsx";
import { Calls } from "../keyed/calls.tsx";
import { Recent } from "../keyed/recent.tsx";
import { StateView } from "../keyed/state_view.tsx";
import { LockAndQueue } from "./lock.tsx";

/** An object: who holds it, what waits for it, its state, and what it did. */
export default function ObjectPage({ params }: PageProps) {
  const keyed = keyedOf(params);
  const { service, key, scope } = keyed;
  return (
    <Page
      title={
        <>
          <a href={link("objects")}>Objects</a> /{" "}
          <a href={linkWith("objects", { filter: `service:${service}` })}>{service}</a> /{" "}
          {key === "" ? <span class="quiet">(empty key)</span> : <LongText text={key} />}
        </>
      }
      actions={<Calls keyed={keyed} />}
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
