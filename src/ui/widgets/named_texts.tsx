import { LongText } from "./json_tree.tsx";

/** Texts by name, such as headers and metadata. */
export function NamedTexts({ entries }: {
  readonly entries: readonly (readonly [name: string, text: string])[];
}) {
  return (
    <dl class="facts">
      {entries.map(([name, text]) => (
        <div key={name} class="fact">
          <dt>
            <bdi>{name}</bdi>
          </dt>
          <dd>
            <LongText text={text} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
