import { fetched } from "../support/fetched.ts";

/** The command line and the clients of the reference, as their makers publish them. */
const PUBLISHED = { tests: "Tests with the reference's clients", isProgram: false };

/** The program `restate` (58 MB). Undefined where the tests with it are to be skipped. */
export async function cliProgram(): Promise<string | undefined> {
  return await fetched({
    ...PUBLISHED,
    package: "@restatedev/restate-linux-x64",
    version: "1.7.12",
    file: "bin/restate",
    isProgram: true,
  });
}

/** The client package's entry, to be imported. Undefined as for `cliProgram`. */
export async function clientsModule(): Promise<string | undefined> {
  return await fetched({
    ...PUBLISHED,
    package: "@restatedev/restate-sdk-clients",
    version: "1.17.2",
    file: "dist/index.js",
  });
}
