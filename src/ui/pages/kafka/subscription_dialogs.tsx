import { useRef, useState } from "preact/hooks";
import { useServices } from "../../data/catalog.ts";
import { api } from "../../data/client.ts";
import { toast } from "../../state/toasts.ts";
import { Check } from "../../widgets/check.tsx";
import { FormDialog, TextField } from "../../widgets/form_dialog.tsx";
import type { Cluster, PartitionRow, Subscription } from "./data.ts";
import { changesOf, linesOf, PropertiesField, propertiesOf, type Read } from "./properties.tsx";

const HINT =
  "One a line, such as auto.offset.reset=earliest or on.poison=skip. They win over the " +
  "properties of the cluster.";
const pathOf = ({ id }: Subscription) => `subscriptions/${encodeURIComponent(id)}`;

const optionsOf = (read: Read) => "properties" in read ? read.properties : {};

/** Makes a subscription. What the server finds wrong is said in place. */
export function Subscribe({ clusters, onClose }: {
  readonly clusters: readonly Cluster[];
  readonly onClose: () => void;
}) {
  const [cluster, setCluster] = useState(clusters[0]?.name ?? "");
  const [topic, setTopic] = useState("");
  const [sink, setSink] = useState("");
  const [lines, set] = useState("auto.offset.reset=earliest");
  const read = propertiesOf(lines);
  const body = { source: `kafka://${cluster}/${topic}`, sink: `service://${sink}` };
  return (
    <FormDialog
      title="Subscribe"
      action="Subscribe"
      isReady={"properties" in read}
      onSend={() =>
        api("subscriptions", { method: "POST", body: { ...body, options: optionsOf(read) } })}
      onClose={onClose}
    >
      <label>
        Cluster
        <select value={cluster} onChange={({ currentTarget }) => setCluster(currentTarget.value)}>
          {clusters.map(({ name }) => <option key={name} value={name}>{name}</option>)}
        </select>
      </label>
      <TextField
        label="Topic"
        hint="From ^ on it is a regular expression over topics."
        value={topic}
        onChange={setTopic}
      />
      <Sinks value={sink} onChange={setSink} />
      <PropertiesField label="Options" hint={HINT} lines={lines} onChange={set} />
    </FormDialog>
  );
}

/** A handler, of all that are registered. */
function Sinks({ value, onChange }: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const services = useServices().data?.services ?? [];
  const sinks = services.flatMap(({ name, handlers }) =>
    handlers.map((handler) => `${name}/${handler.name}`)
  );
  return (
    <label>
      Handler
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">choose the one that records call</option>
        {sinks.toSorted().map((sink) => <option key={sink} value={sink}>{sink}</option>)}
      </select>
    </label>
  );
}

interface DialogProps {
  readonly subscription: Subscription;
  readonly onClose: () => void;
}

/** Changes options: those that are different are sent. */
export function EditOptions({ subscription, onClose }: DialogProps) {
  const [lines, set] = useState(linesOf(subscription.options));
  const read = propertiesOf(lines);
  const send = () => {
    const options = changesOf(subscription.options, optionsOf(read));
    return api(pathOf(subscription), { method: "PATCH", body: { options } });
  };
  return (
    <FormDialog
      title="Change options"
      action="Save"
      isReady={"properties" in read}
      onSend={send}
      onClose={onClose}
    >
      <PropertiesField label="Options" hint={HINT} lines={lines} onChange={set} />
    </FormDialog>
  );
}

/** Passes over one record by its name. `stopped`: the partition that stands, if one is known to. */
export function SkipRecord({ subscription, stopped: now, onClose }: DialogProps & {
  readonly stopped: PartitionRow | undefined;
}) {
  // It may be known only after this is open, and another one is not what was asked about.
  const known = useRef(now);
  const stopped = known.current ??= now;
  const [typed, type] = useState<{ topic?: string; partition?: string; offset?: string }>({});
  const {
    topic = stopped?.topic ?? "",
    partition = String(stopped?.partition ?? ""),
    offset = String(stopped?.position ?? ""),
  } = typed;
  const set = (name: keyof typeof typed) => (text: string) => type({ ...typed, [name]: text });
  const body = { topic, partition: Number(partition), offset: Number(offset) };
  const isReady = /^\d+$/.test(partition) && /^\d+$/.test(offset) && topic !== "";
  return (
    <FormDialog
      title="Skip a record"
      action="Skip"
      isReady={isReady}
      onSend={() => api(`${pathOf(subscription)}/skip`, { method: "POST", body })}
      onClose={onClose}
    >
      {stopped?.stopped_message !== undefined && (
        <p class="text">
          <bdi>{stopped.stopped_message}</bdi>
        </p>
      )}
      <p>It is passed over when it is the next one to read, and no invocation is made of it.</p>
      <TextField label="Topic" value={topic} onChange={set("topic")} />
      <TextField label="Partition" value={partition} onChange={set("partition")} />
      <TextField label="Offset" value={offset} onChange={set("offset")} />
    </FormDialog>
  );
}

/** Deletes a subscription, with its consumer group or without. */
export function Unsubscribe({ subscription, onClose }: DialogProps) {
  const [isWhole, setWhole] = useState(false);
  const query = isWhole ? "?group=delete" : "";
  const remove = async () => {
    const path = `${pathOf(subscription)}${query}`;
    const end = await api<{ readonly message?: string } | undefined>(path, { method: "DELETE" });
    if (end?.message !== undefined) toast("failed", end.message);
  };
  return (
    <FormDialog
      title="Delete the subscription"
      action="Delete"
      onSend={remove}
      onClose={onClose}
    >
      <p>
        No further record of <bdi>{subscription.source}</bdi> calls{" "}
        <bdi>{subscription.sink}</bdi>. Its invocations go on.
      </p>
      <Check isOn={isWhole} onSet={setWhole}>
        Delete its consumer group at the brokers as well: a new subscription begins anew
      </Check>
    </FormDialog>
  );
}
