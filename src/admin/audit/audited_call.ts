/** Characters of each id that is recorded, … */
const TEXT_MAX = 256;
/** … ids of one list, … */
const IDS_MAX = 20;
/** … and names. */
const NAMES_MAX = 16;

/** What is known of a request so far, for its record. Of bodies it has ids only. */
export class AuditedCall {
  route = "";
  /** Null: no valid token. */
  identity: string | null = null;
  readonly target: Record<string, string> = {};

  /** Notes one id or option, cut to 256 characters. */
  note(name: string, value: string): void {
    if (Object.keys(this.target).length < NAMES_MAX) this.target[name] = cut(value);
  }

  /** Notes the first 20 ids of a list, and how many there are. */
  noteAll(name: string, ids: readonly string[]): void {
    const more = ids.length > IDS_MAX ? `, … (${ids.length})` : "";
    const some = ids.slice(0, IDS_MAX).map(cut).join(", ");
    this.target[name] = `${some}${more}`;
  }
}

function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}
