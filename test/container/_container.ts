import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Child } from "../support/child.ts";
import { type Image, inside } from "./_image.ts";

type Command = readonly [string, ...string[]];

/** Ways to run a process as another user, as number 1 of its own, where this machine lets us. */
function wrappers(user: string): readonly (readonly string[])[] {
  const [uid = "", gid = ""] = user.split(":");
  const ids = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  const lowered = [...ids, "--no-new-privs", "--pdeathsig=KILL"];
  return [["unshare", "--pid", "--fork", "--kill-child", ...lowered], lowered, []];
}

function wrapperFor(user: string): readonly string[] {
  const works = ([program, ...args]: readonly string[]) => {
    if (program === undefined) return true;
    try {
      execFileSync(program, [...args, "node", "--version"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  };
  return wrappers(user).find(works) ?? [];
}

/** A process of an image, as near to a container as this machine allows. */
export class Container {
  readonly image: Image;
  readonly isOne: boolean;
  readonly #child: Child;
  readonly #env: Readonly<Record<string, string>>;

  /** `env`: what the container is given in addition to what the image says. */
  constructor(image: Image, env: Readonly<Record<string, string>>) {
    const wrapper = wrapperFor(image.user);
    this.image = image;
    this.isOne = wrapper[0] === "unshare";
    const placed = Object.entries(image.env).map(([name, value]) =>
      [name, value.startsWith("/") ? inside(image, value) : value] as const
    );
    this.#env = { ...Object.fromEntries(placed), ...env };
    this.#child = this.#run([...wrapper, ...image.entrypoint]);
  }

  #run(command: readonly string[]): Child {
    const at = ["env", `--chdir=${inside(this.image, ".")}`] as const;
    return new Child([...at, ...command] as unknown as Command, this.#env);
  }

  /** What HEALTHCHECK asks, once: the exit code. */
  async check(): Promise<number | NodeJS.Signals> {
    return await this.#run(this.image.healthcheck).ended();
  }

  output(): string {
    return this.#child.output();
  }

  isAlive(): boolean {
    return this.#child.isAlive();
  }

  /** A line of what the kernel knows about the server itself, such as `Uid` or `NSpid`. */
  status(name: string): readonly string[] {
    const lines = readFileSync(`/proc/${this.#pid()}/status`, "utf8").split("\n");
    return lines.find((line) => line.startsWith(`${name}:`))?.split(/\s+/).slice(1) ?? [];
  }

  /** As `docker stop` does: a signal to process 1. Answers how it ended. */
  async stop(): Promise<number | NodeJS.Signals> {
    if (this.isAlive()) process.kill(this.#pid(), "SIGTERM");
    return await this.#child.ended();
  }

  /** Of the server: `unshare` waits for it in front. */
  #pid(): number {
    const pid = this.#child.pid ?? 0;
    if (!this.isOne) return pid;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());
  }
}
