/** The buttons of a row that can be edited and deleted. `name`: of the row, for those who hear it. */
export function EditAndDelete({ name, onEdit, onDelete }: {
  readonly name: string;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}) {
  return (
    <>
      <button type="button" aria-label={`Edit ${name}`} onClick={onEdit}>Edit</button>{" "}
      <button type="button" aria-label={`Delete ${name}`} onClick={onDelete}>Delete</button>
    </>
  );
}
