import type { Load } from "./_load.ts";
import type { Scenario } from "./_scenarios.ts";

export interface ClientsOptions {
  readonly scenarios: Readonly<Record<string, Scenario>>;
  /** Names of the only ones wanted. Absent: all. */
  readonly only: readonly string[] | undefined;
  readonly count: number;
  readonly isOver: () => boolean;
}

/** Clients that go on until `isExpired`, each with one scenario at a time. Answers how many of each. */
export async function clients(
  load: Load,
  { scenarios, only, count, isOver }: ClientsOptions,
): Promise<Record<string, number>> {
  const all = Object.entries(scenarios).filter(([name]) => only?.includes(name) ?? true);
  const done: Record<string, number> = {};
  let number = 0;
  const client = async (): Promise<void> => {
    while (!isOver()) {
      const [name, scenario] = all[number++ % all.length] ?? never();
      await scenario(load, `${name}-${number}`).catch((cause) => {
        throw new Error(`${name}-${number}: ${cause.message}`, { cause });
      });
      done[name] = (done[name] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: count }, client));
  return done;
}

function never(): never {
  throw new Error("There is no scenario of that name");
}
