import { Json } from "../../../widgets/json_tree.tsx";
import { valueOf } from "../steps.ts";
import { contentOf } from "./state_at.ts";

/** The value of a key. `json`: the entry that has it, once it is read. */
export function Value(
  { name, json }: { readonly name: string; readonly json: string | undefined },
) {
  if (json === undefined) return <span class="loading">Loading…</span>;
  const bytes = contentOf(json);
  if (bytes === undefined) return <span class="quiet">left out</span>;
  const value = Array.isArray(bytes) ? valueOf(bytes as number[]) : bytes;
  return (
    <Json
      text={typeof value === "string" ? value : JSON.stringify(value)}
      label={`value of ${name}`}
    />
  );
}
