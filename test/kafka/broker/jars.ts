import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CACHE, missing } from "../../support/fetched.ts";

const REPOSITORY = "https://repo1.maven.org/maven2";
const TESTS = "Tests against a Kafka broker";
const AT_ONCE = 8;
const FETCH_MS = 120_000;

/** A jar by its path in a Maven repository. */
interface Jar {
  readonly sha256: string;
  readonly path: string;
}

/**
 * The folder with the jars of a broker (46 MB), fetched when they are missing. Undefined, after a
 * warning, where they cannot be fetched: the tests are skipped then. Throws where tools are required.
 */
export async function brokerJars(): Promise<string | undefined> {
  const home = path.join(CACHE, "kafka-3.9.1");
  if (existsSync(home)) return home;
  try {
    await fetchAll(home);
  } catch (cause) {
    if (!existsSync(home)) return missing(TESTS, `${REPOSITORY}: ${String(cause)}`);
  }
  return home;
}

/** The folder appears complete or not at all. */
async function fetchAll(home: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(`${home}-`);
  try {
    const queue = listed();
    const fetchNext = async () => {
      for (let jar = queue.pop(); jar; jar = queue.pop()) await fetchJar(jar, folder);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, fetchNext));
    // Tests in other processes may fetch at the same time: the first one wins.
    await rename(folder, home);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function listed(): Jar[] {
  const lines = readFileSync(path.join(import.meta.dirname, "jars.txt"), "utf8").split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => {
    const [sha256 = "", file = ""] = line.split(" ");
    return { sha256, path: file };
  });
}

async function fetchJar(jar: Jar, folder: string): Promise<void> {
  const url = `${REPOSITORY}/${jar.path}`;
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== jar.sha256) throw new Error(`${url} is not what it was: ${sha256}`);
  await writeFile(path.join(folder, path.basename(jar.path)), bytes);
}
