import { addressOf, type Deployment, type Service } from "../../data/catalog.ts";
import { filterLink } from "../../data/filter_link.ts";
import { link } from "../../state/router.ts";
import type { Action, Cause } from "./causes.ts";
import type { OpenRow } from "./statements.ts";

/** Services and deployments that are paused, and deployments that are still bound to invocations. */
export function deployed(
  rows: readonly OpenRow[],
  services: readonly Service[],
  deployments: readonly Deployment[],
): Cause[] {
  const open = rows.filter(({ cause }) => cause === "open");
  const latest = new Set(services.map(({ deployment_id }) => deployment_id));
  return [
    ...services.filter(({ paused }) => paused).map((service) => pausedService(service, open)),
    ...deployments.filter(({ paused }) => paused).map(pausedDeployment),
    ...deployments.filter(({ id }) => !latest.has(id)).flatMap((one) => draining(one, open)),
  ];
}

function pausedService({ name }: Service, open: readonly OpenRow[]): Cause {
  const waiting = open.filter(({ service, status }) => service === name && status === "pending");
  return {
    id: `service ${name}`,
    ...{ icon: "paused", word: "paused", who: name, why: "the service is paused" },
    ...countOf(waiting),
    unit: "waiting",
    show: filterLink({ service: name, status: "pending" }),
    actions: [resume(`services/${encodeURIComponent(name)}`)],
  };
}

function pausedDeployment(deployment: Deployment): Cause {
  const { id } = deployment;
  return {
    id: `deployment ${id}`,
    ...{
      icon: "paused",
      word: "paused",
      who: addressOf(deployment),
      why: "the deployment is paused",
    },
    show: link("deployments", id),
    actions: [resume(`deployments/${encodeURIComponent(id)}`)],
  };
}

function draining(deployment: Deployment, open: readonly OpenRow[]): Cause[] {
  const { id } = deployment;
  const pinned = open.filter(({ deployment }) => deployment === id);
  if (pinned.length === 0) return [];
  return [{
    id: `draining ${id}`,
    icon: "deployment",
    word: "draining",
    who: addressOf(deployment),
    why: "it serves no service any more, but these are bound to it",
    ...countOf(pinned),
    unit: "bound",
    show: filterLink({ deployment: id, status: OPEN_STATUSES }),
    actions: [],
  }];
}

const OPEN_STATUSES = [
  ...["scheduled", "pending", "ready", "running", "retrying", "suspended", "paused"],
];

const resume = (path: string): Action => ({
  kind: "request",
  label: "Resume",
  method: "PATCH",
  path,
  body: { paused: false },
});

function countOf(rows: readonly OpenRow[]) {
  const oldest = rows.flatMap(({ since }) => since ?? []).toSorted()[0];
  const count = rows.reduce((sum, { n = 0 }) => sum + Number(n), 0);
  return { count, ...(oldest !== undefined && { oldest }) };
}
