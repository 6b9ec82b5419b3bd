import type { Service } from "../../data/catalog.ts";

/** Options that `PATCH /services/{name}` changes. Null: without a limit. */
export type Patch = Readonly<Record<string, unknown>>;

/** An option of a service as a row: how it is read, said, and changed. */
export interface Option {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly textOf: (service: Service) => string | undefined;
  /** As a server without settings has it. Absent: there is none to compare with. */
  readonly usual?: string;
  /** Absent: it is set in the code of the service. */
  readonly edit?: Edit;
  /** Whether services of this type have it. Absent: all do. */
  readonly isOf?: (service: Service) => boolean;
  /** Whether it is a limit, which not every server has. */
  readonly isControl?: boolean;
}

export interface Edit {
  /** What is typed, as an example. */
  readonly hint: string;
  /** What fits in the field. Absent: any text. */
  readonly pattern?: string;
  /** The text to begin with. */
  readonly begin: (service: Service) => string;
  /** What is sent for a text. */
  readonly patchOf: (text: string) => Patch;
  /** Texts to choose from. */
  readonly choices?: readonly string[];
}

const DURATION = "\\s*\\d.*";

type DurationName =
  | "idempotency_retention"
  | "journal_retention"
  | "workflow_completion_retention"
  | "inactivity_timeout"
  | "abort_timeout";

function duration(name: DurationName, title: string, rest: Pick<Option, "about" | "usual">) {
  const textOf = (service: Service) => service[name];
  const edit: Edit = {
    hint: "such as 30s, 10m, 2h, 1d",
    pattern: DURATION,
    begin: (service) => textOf(service) ?? "",
    patchOf: (text) => ({ [name]: text.trim() }),
  };
  return { name, title, textOf, edit, ...rest } satisfies Option;
}

const PUBLIC: Option = {
  name: "public",
  title: "Access",
  about: "Whether it can be called through the ingress. Other handlers always can.",
  usual: "public",
  textOf: (service) => service.public ? "public" : "private",
  edit: {
    hint: "",
    choices: ["public", "private"],
    begin: (service) => service.public ? "public" : "private",
    patchOf: (text) => ({ public: text === "public" }),
  },
};

const RETRIES: Option = {
  name: "retry_policy",
  title: "Retries",
  about: "How failed attempts are repeated, and what happens after the last one.",
  usual: "500ms, × 2, up to 1m, 70 attempts, then pause",
  textOf: ({ retry_policy: policy }) => {
    if (!policy) return undefined;
    const { initial_interval: first, exponentiation_factor: factor, max_interval: max } = policy;
    const attempts = policy.max_attempts ?? "any number of";
    return `${first}, × ${factor}, up to ${max}, ${attempts} attempts, then ` +
      String(policy.on_max_attempts ?? "pause").toLowerCase();
  },
};

const LAZY: Option = {
  name: "enable_lazy_state",
  title: "State",
  about: "Whether an attempt gets all state at its beginning, or each value when it asks for it.",
  usual: "sent at the beginning",
  textOf: ({ enable_lazy_state: isLazy }) => isLazy ? "on demand" : "sent at the beginning",
  isOf: ({ ty }) => ty !== "Service",
};

const CONCURRENCY: Option = {
  name: "concurrency",
  title: "Concurrency",
  about: "Invocations that may run at once.",
  usual: "unlimited",
  isControl: true,
  textOf: ({ concurrency }) => concurrency === undefined ? "unlimited" : String(concurrency),
  edit: {
    hint: "a number; empty is unlimited",
    pattern: "\\s*\\d*\\s*",
    begin: ({ concurrency }) => concurrency === undefined ? "" : String(concurrency),
    patchOf: (text) => ({ concurrency: text.trim() === "" ? null : Number(text) }),
  },
};

const RATE: Option = {
  name: "rate",
  title: "Rate",
  about: "Invocations that may start in a time.",
  usual: "unlimited",
  isControl: true,
  textOf: (service) => rateText(service) || "unlimited",
  edit: {
    hint: "such as 100/1m, or 100/1m burst 20; empty is unlimited",
    pattern: "\\s*(\\d+\\s*\\/\\s*\\d.*)?",
    begin: rateText,
    patchOf: (text) => ({ rate: rateOf(text) }),
  },
};

function rateText({ rate }: Service): string {
  if (!rate) return "";
  const burst = rate.burst === undefined ? "" : ` burst ${rate.burst}`;
  return `${rate.count}/${rate.period}${burst}`;
}

/** A rate as it is sent. Null: unlimited. */
function rateOf(text: string): unknown {
  const [, count, period, burst] = /^\s*(\d+)\s*\/\s*(\d.*?)(?:\s+burst\s+(\d+))?\s*$/.exec(text) ??
    [];
  if (count === undefined || period === undefined) return null;
  return { count: Number(count), period, ...(burst !== undefined && { burst: Number(burst) }) };
}

/** All options, as they follow each other. */
export const OPTIONS: readonly Option[] = [
  PUBLIC,
  duration("idempotency_retention", "Results of idempotency keys", {
    about: "How long a repeated call gets the same result.",
    usual: "1d",
  }),
  {
    ...duration("workflow_completion_retention", "Results of workflows", {
      about: "How long a result, state and promises are kept.",
      usual: "1d",
    }),
    isOf: ({ ty }) => ty === "Workflow",
  },
  duration("journal_retention", "Journals", {
    about: "How long the journal of an ended invocation is kept.",
    usual: "1d",
  }),
  duration("inactivity_timeout", "Inactivity", {
    about: "Inactivity after which an attempt is asked to suspend.",
    usual: "1m",
  }),
  duration("abort_timeout", "Abort", {
    about: "Inactivity after that, after which the attempt is aborted.",
    usual: "10m",
  }),
  RETRIES,
  LAZY,
  CONCURRENCY,
  RATE,
];
