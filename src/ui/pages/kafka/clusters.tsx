import { useState } from "preact/hooks";
import { api } from "../../data/client.ts";
import { Check } from "../../widgets/check.tsx";
import { EditAndDelete } from "../../widgets/edit_and_delete.tsx";
import { FormDialog, TextField } from "../../widgets/form_dialog.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { Ago } from "../../widgets/time.tsx";
import type { Cluster } from "./data.ts";
import { linesOf, PropertiesField, propertiesOf } from "./properties.tsx";

type Open =
  | { readonly kind: "add" }
  | { readonly kind: "edit" | "delete"; readonly cluster: Cluster };

/** Where brokers are, and how they are reached. */
export function Clusters({ clusters }: { readonly clusters: readonly Cluster[] }) {
  const [open, set] = useState<Open>();
  const close = () => set(undefined);
  return (
    <section aria-labelledby="clusters">
      <div class="row">
        <h2 id="clusters">Clusters</h2>
        <button type="button" onClick={() => set({ kind: "add" })}>Add a cluster…</button>
      </div>
      {clusters.length === 0
        ? <p class="quiet">No cluster is known. Add the one to read from first.</p>
        : (
          <Table
            caption="Clusters"
            columns={columnsOf(set)}
            rows={clusters}
            idOf={({ name }) => name}
          />
        )}
      {open?.kind === "add" && <ClusterDialog onClose={close} />}
      {open?.kind === "edit" && <ClusterDialog cluster={open.cluster} onClose={close} />}
      {open?.kind === "delete" && <DeleteCluster name={open.cluster.name} onClose={close} />}
    </section>
  );
}

function columnsOf(open: (open: Open) => void): readonly Column<Cluster>[] {
  return [
    { id: "name", title: "Name", isHeader: true, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: "properties",
      title: "Properties",
      cell: ({ properties }) => (
        <code>
          <bdi>{linesOf(properties).replaceAll("\n", ", ")}</bdi>
        </code>
      ),
    },
    { id: "created", title: "Added", cell: ({ created_at: at }) => <Ago at={at} /> },
    {
      id: "actions",
      title: "Actions",
      cell: (cluster) => (
        <EditAndDelete
          name={cluster.name}
          onEdit={() => open({ kind: "edit", cluster })}
          onDelete={() => open({ kind: "delete", cluster })}
        />
      ),
    },
  ];
}

const pathOf = (name: string) => `kafka-clusters/${encodeURIComponent(name)}`;

function ClusterDialog({ cluster, onClose }: {
  readonly cluster?: Cluster;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState(cluster?.name ?? "");
  const [lines, set] = useState(
    cluster ? linesOf(cluster.properties) : "bootstrap.servers=localhost:9092",
  );
  const read = propertiesOf(lines);
  const send = () =>
    cluster
      ? api(pathOf(cluster.name), { method: "PATCH", body: read })
      : api("kafka-clusters", { method: "POST", body: { name, ...read } });
  return (
    <FormDialog
      title={cluster ? `Edit ${cluster.name}` : "Add a cluster"}
      action={cluster ? "Save" : "Add"}
      isReady={"properties" in read}
      onSend={send}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} isLocked={cluster !== undefined} />
      <PropertiesField
        label="Properties"
        hint="One a line, by the names of librdkafka. A secret stays as it is while it says ***."
        lines={lines}
        onChange={set}
      />
    </FormDialog>
  );
}

function DeleteCluster({ name, onClose }: {
  readonly name: string;
  readonly onClose: () => void;
}) {
  const [isForced, force] = useState(false);
  const query = isForced ? "?force=true" : "";
  return (
    <FormDialog
      title={`Delete ${name}`}
      action="Delete"
      onSend={() => api(`${pathOf(name)}${query}`, { method: "DELETE" })}
      onClose={onClose}
    >
      <p>While subscriptions read from it, it is not deleted.</p>
      <Check isOn={isForced} onSet={force}>
        Delete it nevertheless: they fail until a cluster of this name exists again
      </Check>
    </FormDialog>
  );
}
