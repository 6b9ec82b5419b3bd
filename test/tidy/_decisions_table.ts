/**
 * The index of docs/decisions: number, title and state of each. Takes file names with their texts, in
 * order. A test keeps the two the same.
 */
export function describeDecisions(decisions: readonly (readonly [string, string])[]): string {
  const rows = decisions.map(([name, text]) => {
    const title = /^# \d{3} (.+)$/m.exec(text)?.[1];
    const status = /^\*\*Status\.\*\* ([\s\S]+?)\n\n/m.exec(text)?.[1]?.replaceAll("\n", " ");
    return `| [${name.slice(0, 3)}](${name}) | ${title} | ${status} |`;
  });
  return ["| Number | Decision | State |", "| --- | --- | --- |", ...rows].join("\n");
}
