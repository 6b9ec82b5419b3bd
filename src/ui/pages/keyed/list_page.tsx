import type { ComponentChildren } from "preact";
import { type Service, useServices } from "../../data/catalog.ts";
import { link, place, setQuery } from "../../state/router.ts";
import { Drops, type DropsProps } from "../../widgets/drops.tsx";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { type Field, FilterLine } from "../../widgets/filter_line.tsx";
import { Page } from "../../widgets/page.tsx";
import type { Column } from "../../widgets/table.tsx";

/** The frame of a list of keys, which says so when no service of the type is registered. */
export function KeyedListPage({ title, ty, kind, children }: {
  readonly title: string;
  readonly ty: Service["ty"];
  /** What one of these services is called. */
  readonly kind: string;
  readonly children: (services: readonly Service[]) => ComponentChildren;
}) {
  const services = useServices();
  const mine = services.data?.services.filter((service) => service.ty === ty);
  return (
    <Page title={title}>
      {services.error && <Failed error={services.error} onRetry={services.refresh} />}
      {mine && (mine.length === 0
        ? (
          <Empty title={`No ${kind} is registered.`}>
            <a href={link("deployments")}>Register a deployment that has one</a>
          </Empty>
        )
        : children(mine))}
    </Page>
  );
}

/** The filter line that the address has. */
export const filterText = () => place.value.query.get("filter") ?? "";

/** The filter line of such a list. `names`: of the services that can be filtered by. */
export function KeyedFilter({ label, fields, names }: {
  readonly label: string;
  readonly fields: readonly Field[];
  readonly names: readonly string[];
}) {
  return (
    <FilterLine
      label={label}
      fields={fields.map((field) => field.name === "service" ? { ...field, values: names } : field)}
      text={filterText()}
      onChange={(filter) => setQuery({ filter })}
    />
  );
}

/** Why a list is empty. `unused`: said when nothing was filtered. */
export function Nothing({ kind, unused, fields, foundBy }: {
  readonly kind: string;
  readonly unused: string;
  readonly fields: readonly Field[];
  readonly foundBy: DropsProps["foundBy"];
}) {
  const text = filterText();
  if (text === "") return <Empty title={unused} />;
  return (
    <Empty title={`No ${kind} matches the filter.`}>
      <Drops
        {...{ text, foundBy }}
        names={fields.map(({ name }) => name)}
        onFilter={(filter) => setQuery({ filter })}
      />
    </Empty>
  );
}

interface KeyedRow {
  readonly service: string;
  readonly key: string;
  readonly scope?: string;
}

/** Service, key and scope. `title`: what the key is called; `linkOf`: where it leads. */
export function keyedColumns<Row extends KeyedRow>(
  titles: { readonly service: string; readonly key: string },
  linkOf: (row: Row) => string,
): readonly Column<Row>[] {
  return [
    { id: "service", title: titles.service, cell: ({ service }) => <bdi>{service}</bdi> },
    {
      id: "key",
      title: titles.key,
      isHeader: true,
      cell: (row) => (
        <a href={linkOf(row)} class="key">
          <bdi>{row.key === "" ? `(empty ${titles.key.toLowerCase()})` : row.key}</bdi>
        </a>
      ),
    },
    { id: "scope", title: "Scope", cell: ({ scope }) => <bdi>{scope ?? ""}</bdi> },
  ];
}
