import type { Deployment, Service } from "../../data/catalog.ts";
import { Icon, type IconName } from "../../widgets/icon.tsx";
import type { Pinned } from "./statements.ts";

/** A deployment with what is known of its use. */
export interface Row extends Deployment {
  /** Services whose latest revision it serves. */
  readonly latest: readonly string[];
  /** Invocations that have not ended and go on with it. */
  readonly pinned: number;
  /** Those of them that run now. */
  readonly running: number;
}

/** Deployments with their use, the newest first. */
export function rowsOf(
  deployments: readonly Deployment[],
  services: readonly Service[],
  pinned: readonly Pinned[],
): Row[] {
  const sum = (rows: readonly Pinned[]) => rows.reduce((total, { n }) => total + Number(n), 0);
  return deployments.map((one): Row => {
    const mine = pinned.filter(({ id }) => id === one.id);
    return {
      ...one,
      latest: services.filter(({ deployment_id: id }) => id === one.id).map(({ name }) => name),
      pinned: sum(mine),
      running: sum(mine.filter(({ status }) => status === "running")),
    };
  }).toReversed();
}

/** Whether neither a new nor an open invocation needs it. */
export function isDrained({ latest, pinned }: Row): boolean {
  return latest.length === 0 && pinned === 0;
}

const STATES = {
  paused: { icon: "paused", text: "paused" },
  active: { icon: "succeeded", text: "active" },
  draining: { icon: "retrying", text: "draining" },
  drained: { icon: "canceled", text: "drained" },
} satisfies Readonly<Record<string, { icon: IconName; text: string }>>;

/** Whether new invocations use it, and whether old ones still do. */
export function DeploymentState({ row }: { readonly row: Row }) {
  const use = row.latest.length > 0 ? "active" : row.pinned > 0 ? "draining" : "drained";
  return (
    <span class="badges">
      {row.paused && <Badge name="paused" />}
      <Badge name={use} />
    </span>
  );
}

function Badge({ name }: { readonly name: keyof typeof STATES }) {
  const { icon, text } = STATES[name];
  return (
    <span class={`status ${name}`}>
      <Icon name={icon} />
      <span>{text}</span>
    </span>
  );
}
