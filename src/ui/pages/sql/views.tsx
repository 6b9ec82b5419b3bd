import { keptViews, NamedViews } from "../../widgets/named_views.tsx";

const views = keptViews("perdure.queries");

/** Statements that were kept under a name, and a form to keep the one that is written. */
export function Views({ text, onTake }: {
  readonly text: string;
  readonly onTake: (statement: string) => void;
}) {
  return (
    <NamedViews
      views={views}
      queryOfNow={() => text}
      show={({ name, query }) => (
        <button
          type="button"
          class="link"
          title={query}
          onClick={() => onTake(query)}
        >
          <bdi>{name}</bdi>
        </button>
      )}
    >
      They are kept by this browser: the statement as it is written. A click runs it.
    </NamedViews>
  );
}
