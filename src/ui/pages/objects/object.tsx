import { keyedOf } from "../../data/objects.ts";
import type { PageProps } from "../../routes.ts";
import { Calls } from "../keyed/calls.tsx";
import { KeyedPage } from "../keyed/keyed_page.tsx";
import { Recent } from "../keyed/recent.tsx";
import { StateView } from "../keyed/state_view.tsx";
import { LockAndQueue } from "./lock.tsx";

/** An object: who holds it, what waits for it, its state, and what it did. */
export default function ObjectPage({ params }: PageProps) {
  const keyed = keyedOf(params);
  const { service, key, scope } = keyed;
  const place = `${service} ${scope ?? ""} ${key}`;
  return (
    <KeyedPage list="objects" title="Objects" keyed={keyed} actions={<Calls keyed={keyed} />}>
      <LockAndQueue key={`lock ${place}`} keyed={keyed} />
      <StateView key={`state ${place}`} keyed={keyed} />
      <Recent keyed={keyed} title="Recent invocations" />
    </KeyedPage>
  );
}
