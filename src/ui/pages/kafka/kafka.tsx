import { NO_ROUTE } from "../../data/client.ts";
import { EVERY_MS, useGet, useQuery } from "../../data/hooks.ts";
import { abilities } from "../../data/server.ts";
import { Empty, FailedReads } from "../../widgets/empty.tsx";
import { Page } from "../../widgets/page.tsx";
import { Clusters } from "./clusters.tsx";
import {
  type Cluster,
  type PartitionRow,
  PARTITIONS,
  PARTITIONS_MAX,
  type StateRow,
  STATES,
  type Subscription,
} from "./data.ts";
import { Subscriptions } from "./subscriptions.tsx";

const OFTEN = { everyMs: EVERY_MS.list };

/** Clusters of Kafka, and the subscriptions that make invocations of records. */
export default function Kafka() {
  const { hasKafkaTables: hasTables } = abilities();
  const clusters = useGet<{ clusters: Cluster[] }>("kafka-clusters", OFTEN);
  const subscriptions = useGet<{ subscriptions: Subscription[] }>("subscriptions", OFTEN);
  const states = useQuery<StateRow>(STATES, { ...OFTEN, isOn: hasTables });
  const partitions = useQuery<PartitionRow>(PARTITIONS, { ...OFTEN, isOn: hasTables });
  if (clusters.error && NO_ROUTE.includes(clusters.error.status)) {
    return (
      <Page title="Kafka">
        <Empty title="This server has no Kafka: it knows neither clusters nor subscriptions." />
      </Page>
    );
  }
  const reads = [clusters, subscriptions, states, partitions];
  const known = clusters.data?.clusters;
  return (
    <Page title="Kafka">
      <FailedReads reads={reads} />
      {!hasTables && (
        <p class="notice">
          This server does not say how its subscriptions are, and cannot pause them.
        </p>
      )}
      {known && <Clusters clusters={known} />}
      {known && subscriptions.data && (
        <Subscriptions
          clusters={known}
          subscriptions={subscriptions.data.subscriptions}
          states={states.data ?? []}
          partitions={partitions.data ?? []}
        />
      )}
      {partitions.data?.length === PARTITIONS_MAX && (
        <p class="quiet">Of all partitions the {PARTITIONS_MAX} with most lag are shown.</p>
      )}
    </Page>
  );
}
