import { pathToFileURL } from "node:url";
import path from "node:path";
import { ROOT } from "./_workflows.ts";

/** What the tests use of `adapters/release`, which is JavaScript so that a workflow can run it. */
export interface PackageAbout {
  readonly name: string;
  readonly bytesMax: number;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
  readonly size: number;
}

interface Heading {
  readonly version: string;
  readonly date?: string;
}

interface Scripts {
  readonly writeSums: (folder: string) => Promise<void>;
  readonly differences: (folder: string) => Promise<readonly string[]>;
  readonly bill: (format: "spdx" | "cyclonedx") => string;
  readonly faultsOf: (
    about: PackageAbout,
    packed: Pick<Packed, "files" | "size">,
  ) => readonly string[];
  readonly pack: (about: PackageAbout, folder: string) => Packed;
  readonly writeJsr: (folder: string) => void;
  readonly headingsOf: (changelog: string) => readonly Heading[];
  readonly notesOf: (changelog: string, version: string, repository?: string) => string;
  readonly npmCommand: (args: readonly string[], platform: string) => unknown;
  readonly PACKAGES: readonly PackageAbout[];
  readonly readManifest: () => {
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  readonly disagreements: (versions: unknown) => readonly string[];
  readonly readVersions: (tag: string | undefined) => unknown;
}

const NAMES = ["checksums", "jsr", "make", "notes", "packages", "versions"];
const modules = await Promise.all(NAMES.map((name) => {
  const file = path.join(ROOT, "adapters/release", `${name}.mjs`);
  return import(/* @vite-ignore */ pathToFileURL(file).href);
}));

/** Everything that the scripts export. */
export const scripts = Object.assign({}, ...modules) as Scripts;
