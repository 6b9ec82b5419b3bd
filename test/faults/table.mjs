/** Names a fault. */
export function keyOf({ file, what }) {
  return `${file}: ${what}`;
}

/** The table of faults, with what noticed each when it was last tried. */
export function table(faults, caught) {
  const lines = faults.map((fault) => {
    const { file, what, equivalent } = fault;
    const found = caught[keyOf(fault)];
    const by = equivalent
      ? `equivalent: ${equivalent}`
      : found
      ? `${found.test.replace("test/", "")}: _${found.name.replaceAll("|", "\\|")}_`
      : "**nothing**";
    return `| \`${file}\` | ${what} | ${by} |`;
  });
  const real = faults.filter(({ equivalent }) => !equivalent);
  const count = real.filter((fault) => caught[keyOf(fault)]).length;
  return [
    "<!-- deno-fmt-ignore-file -->",
    "<!-- node test/faults/run.mjs writes it -->",
    "",
    "# Faults, and what notices them",
    "",
    `${count} of ${real.length} are noticed. How they are tried is in [README.md](README.md).`,
    "",
    "| File | Fault | Noticed by |",
    "| --- | --- | --- |",
    ...lines,
    "",
  ].join("\n");
}
