import process from "node:process";

/** What `npm pack` and `npm publish` run at the top of the repository, whose manifest is not to be packed. */
process.stderr.write(
  "Cannot pack the repository: its manifest has build tools among its dependencies. " +
    "Make the package with `npm run package`\n",
);
process.exit(1);
