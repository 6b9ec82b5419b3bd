import { EXIT_CODES } from "./failure.ts";
import { aboutOf, type CommandName, COMMANDS } from "./table.ts";

/** All commands and exit codes as Markdown: the generated part of docs/cli.md. */
export function describeCommands(): string {
  const names = Object.keys(COMMANDS) as CommandName[];
  const codes = Object.values(EXIT_CODES).map(([code, doc]) => `| ${code} | ${doc} |`);
  const table = ["| Exit code | It means |", "| --- | --- |", ...codes].join("\n");
  return [table, ...names.map(sectionOf)].join("\n\n");
}

function sectionOf(name: CommandName): string {
  const { doc, arguments: positions, flags, example, takesSettings } = aboutOf(name);
  const rows = [
    ...positions.map(({ name, doc, isNeeded, values }) => {
      const allowed = values === undefined ? "" : ` One of ${values.join(", ")}.`;
      return `| \`${isNeeded ? `<${name}>` : `[${name}]`}\` | ${cell(doc + allowed)} |`;
    }),
    ...flags.map(({ name, shown, doc }) =>
      `| \`--${name}${shown === undefined ? "" : ` ${cell(shown)}`}\` | ${cell(doc)} |`
    ),
    ...(takesSettings ? ["| `--<setting> <value>` | Any of the [settings](settings.md). |"] : []),
  ];
  const table = rows.length === 0 ? [] : [["| | |", "| --- | --- |", ...rows].join("\n")];
  return [`## ${name}`, doc, `\`perdure ${example}\``, ...table].join("\n\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
