import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { assert } from "../../src/assert.ts";
import { isSent, parseDockerfile, type Stage, type Step } from "./_dockerfile.ts";

export const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(path.join(ROOT, name), "utf8");

/** What a stage of the Dockerfile came to: its files, in a folder, and how it would be run. */
export interface Image {
  readonly folder: string;
  /** Of the context: what the builder was sent, as paths from the top. */
  readonly context: readonly string[];
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly volumes: readonly string[];
  readonly exposed: readonly string[];
  readonly entrypoint: readonly string[];
  readonly healthcheck: readonly string[];
  readonly base: string;
  remove(): void;
}

type Built = { -readonly [K in keyof Omit<Image, "context" | "remove">]: Image[K] };

/** Does what `docker build` does with our Dockerfile, in a folder of the temporary ones. */
export function buildImage(): Image {
  const home = mkdtempSync(path.join(tmpdir(), "perdure-image-"));
  const remove = () => rmSync(home, { recursive: true, force: true });
  try {
    // Whom the server runs as has to get to its files, as in a container.
    chmodSync(home, 0o755);
    const context = path.join(home, "context");
    sendContext(context);
    return { ...buildStages(home, context), context: filesOf(context), remove };
  } catch (cause) {
    remove();
    throw cause;
  }
}

/** The last one is the image. */
function buildStages(home: string, context: string): Built {
  const stages = new Map<string, string>();
  let image: Built | undefined;
  for (const stage of parseDockerfile(read("adapters/container/Dockerfile"))) {
    image = buildStage(stage, path.join(home, stage.name), { context, stages });
    stages.set(stage.name, image.folder);
  }
  assert(image, "A Dockerfile has a stage");
  return image;
}

/** Paths of all files below a folder, relative to it. */
export function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

function sendContext(folder: string): void {
  const dockerignore = read(".dockerignore");
  mkdirSync(folder);
  for (const name of readdirSync(ROOT).filter((name) => isSent(dockerignore, name))) {
    cpSync(path.join(ROOT, name), path.join(folder, name), {
      recursive: true,
      filter: (source) => isSent(dockerignore, path.relative(ROOT, source)),
    });
  }
}

interface Sources {
  readonly context: string;
  readonly stages: ReadonlyMap<string, string>;
}

function buildStage({ base, steps }: Stage, folder: string, sources: Sources): Built {
  mkdirSync(folder);
  const image: Built = {
    folder,
    base,
    workdir: "/",
    env: {},
    user: "root",
    volumes: [],
    exposed: [],
    entrypoint: [],
    healthcheck: [],
  };
  for (const step of steps) take(step, image, sources);
  return image;
}

function take({ verb, flags, rest }: Step, image: Built, sources: Sources): void {
  const words = rest.split(/\s+/);
  if (verb === "RUN") return run(rest, image);
  if (verb === "COPY") return copy(words, { stage: flags["from"], sources, image });
  if (verb === "ENV") {
    image.env = { ...image.env, ...Object.fromEntries(words.map((word) => word.split("="))) };
  }
  if (verb === "WORKDIR") mkdirSync(inside(image, image.workdir = rest), { recursive: true });
  if (verb === "USER") image.user = rest;
  if (verb === "VOLUME") image.volumes = words;
  if (verb === "EXPOSE") image.exposed = words;
  if (verb === "ENTRYPOINT") image.entrypoint = JSON.parse(rest);
  if (verb === "HEALTHCHECK") image.healthcheck = JSON.parse(rest.replace(/^CMD /, ""));
}

/** Where a path of the container is here. */
export function inside({ folder, workdir }: Pick<Image, "folder" | "workdir">, name: string) {
  return path.join(folder, path.resolve(workdir, name));
}

function run(command: string, image: Built): void {
  // The commands see all of this machine, so whatever they name from the root is named anew.
  const here = command.replaceAll(/(?<=\s)\/(?=\w)/g, `${image.folder}/`)
    .replaceAll(/\b1000:1000\b/g, process.getuid?.() === 0 ? "$&" : ownIds());
  execFileSync("sh", ["-ec", here], {
    cwd: inside(image, "."),
    env: { ...process.env, ...image.env, npm_config_prefer_offline: "true" },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function ownIds(): string {
  return `${process.getuid?.()}:${process.getgid?.()}`;
}

interface Copying {
  readonly stage: string | undefined;
  readonly sources: Sources;
  readonly image: Built;
}

function copy(words: readonly string[], { stage, sources, image }: Copying): void {
  const source = stage === undefined ? sources.context : sources.stages.get(stage);
  assert(source !== undefined, `A stage before this one is called "${stage}"`);
  const target = words.at(-1) ?? "";
  for (const name of words.slice(0, -1)) {
    const file = path.join(source, name);
    // Of a folder, what is in it is copied; a file goes into what ends with a slash.
    const isInto = target.endsWith("/") && !statSync(file).isDirectory();
    const to = inside(image, isInto ? path.join(target, path.basename(name)) : target);
    // A stage is of no use any more, and what it made may be thousands of files.
    if (stage === undefined) cpSync(file, to, { recursive: true });
    else renameSync(file, to);
  }
}
