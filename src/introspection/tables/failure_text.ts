/** Names that codes have of their own in messages: `[500 Internal]`, but `[503]` (seen of the reference). */
const NAMES = {
  400: "Bad request",
  404: "Not found",
  409: "Aborted",
  410: "Gone",
  470: "Not ready",
  500: "Internal",
  570: "Journal mismatch",
  571: "Protocol violation",
  572: "Awaiting two async results",
  573: "Unsupported feature",
} as const;

/** `[500] card declined`: how an invocation ended, by the number of the code alone (seen of the reference). */
export function outcomeText(code: string, message: string): string {
  return `'[' || ${code} || '] ' || coalesce(${message}, '')`;
}

/** `[409 Aborted] card declined`: any other failure as people read it. `code` and `message`: SQL. */
export function failureText(code: string, message: string): string {
  const names = Object.entries(NAMES).map(([value, name]) => `when ${value} then '${name}'`);
  return `'[' || ${code} || coalesce(' ' || case ${code} ${names.join(" ")} end, '') || '] ' || ` +
    `coalesce(${message}, '')`;
}
