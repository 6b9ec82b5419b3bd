import { Json } from "../../widgets/json_tree.tsx";
import { bytesOf, hexText } from "./edited_state.ts";
import type { StateRow } from "./statements.ts";

/** Bytes of a value that is no text, as far as they are shown. */
const HEX_MAX = 256;

/** The value of an entry of a state: as a tree, or as bytes. */
export function StateValue({ row: { key, value, value_utf8: text } }: { readonly row: StateRow }) {
  if (text !== undefined) return <Json text={text} label={`value of ${key}`} />;
  if (value === undefined) return <span class="quiet">too large to be shown here</span>;
  return <HexValue hex={value} />;
}

/** A value that is no text. `hex`: its bytes, as SQL spells them. */
export function HexValue({ hex }: { readonly hex: string }) {
  return <code>{hexText(bytesOf(hex), HEX_MAX)} (no text)</code>;
}
