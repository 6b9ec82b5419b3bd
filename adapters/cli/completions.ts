import { aboutOf, type CommandName, COMMANDS } from "./table.ts";

/** What a shell sources to complete the words of `perdure`. `shell`: `bash`, `zsh` or `fish`. */
export function completionsOf(shell: string): string {
  return { bash, zsh, fish }[shell as "bash"]();
}

const names = () => Object.keys(COMMANDS) as CommandName[];

/** The words that may follow a command: its flags, and the values of its arguments. */
function wordsOf(name: CommandName): string[] {
  const { arguments: positions, flags } = aboutOf(name);
  return [
    ...positions.flatMap(({ values = [] }) => values),
    ...flags.map((one) => `--${one.name}`),
  ];
}

/** Where nothing is known, files are completed. */
function bash(): string {
  return [
    "# bash completions of perdure",
    "_perdure() {",
    '  local word="${COMP_WORDS[COMP_CWORD]}" words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${names().join(" ")} --help"`,
    "  else",
    '    case "${COMP_WORDS[1]}" in',
    ...names().map((name) => `      ${name}) words="${[...wordsOf(name), "--help"].join(" ")}" ;;`),
    "    esac",
    "  fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    "}",
    "complete -o default -F _perdure perdure",
    "",
  ].join("\n");
}

function zsh(): string {
  return [
    "#compdef perdure",
    "_perdure() {",
    "  local -a commands others",
    "  commands=(",
    ...names().map((name) =>
      `    ${quoted(`${name}:${aboutOf(name).doc.replaceAll(":", "\\\\:")}`)}`
    ),
    "  )",
    "  if (( CURRENT == 2 )); then",
    "    _describe command commands",
    "    return",
    "  fi",
    '  case "$words[2]" in',
    ...names().map((name) => `    ${name}) others=(${[...wordsOf(name), "--help"].join(" ")}) ;;`),
    "  esac",
    "  compadd -- $others",
    "  _files",
    "}",
    '_perdure "$@"',
    "",
  ].join("\n");
}

function fish(): string {
  const unless = `not __fish_seen_subcommand_from ${names().join(" ")}`;
  return [
    "# fish completions of perdure",
    ...names().map((name) =>
      `complete -c perdure -f -n ${quoted(unless)} -a ${name} -d ${quoted(aboutOf(name).doc)}`
    ),
    ...names().flatMap((name) => {
      const seen = quoted(`__fish_seen_subcommand_from ${name}`);
      const { arguments: positions, flags } = aboutOf(name);
      const values = positions.flatMap(({ values = [] }) => values);
      return [
        ...values.map((value) => `complete -c perdure -f -n ${seen} -a ${value}`),
        ...flags.map(({ name: flag, shown, doc }) =>
          `complete -c perdure -n ${seen} -l ${flag}${shown ? " -r" : ""} -d ${quoted(doc)}`
        ),
      ];
    }),
    "",
  ].join("\n");
}

/** A word of a shell, between single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
