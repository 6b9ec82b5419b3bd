import type { Chance } from "./chance.ts";

/** What may go wrong, and how tight things are. Probabilities in [0, 1]; 0: never. */
export interface Faults {
  /** Per commit: it never reaches the disk. */
  readonly batchLost: number;
  /** Per commit: it reaches the disk, and its owner is told that it did not. */
  readonly ackLost: number;
  /** Per load, scan and claim. */
  readonly readLost: number;
  /** Per touch of the outside by a process: any of them may be its last. */
  readonly crash: number;
  /** Upper bounds of what one way to the disk, or back, takes. */
  readonly commitMs: number;
  readonly loadMs: number;
  /** Per group of frames: the stream breaks. */
  readonly streamLost: number;
  /** Per broken stream: the service never noticed and goes on. */
  readonly zombie: number;
  /** Per event of an attempt: it comes twice. */
  readonly doubled: number;
  /** Per group of frames: it is told again together with the one before. */
  readonly regrouped: number;
  /** Per notification: this one and all later ones of the attempt are lost. */
  readonly notifyLost: number;
  /** Per attempt: it must wait for a slot. */
  readonly noSlot: number;
  /** Per attempt: the endpoint is unreachable. */
  readonly unreachable: number;
  /** Upper bound of how late an alarm rings. */
  readonly timerLateMs: number;
  /** Upper bound of how far a process's clock jumps. */
  readonly clockStepMs: number;
  /** Upper bounds of how far a process's clock is off from the beginning, and how much it drifts. */
  readonly clockSkewMs: number;
  readonly clockDrift: number;
  /** A second process believes that it owns a partition. */
  readonly secondOwner: boolean;
  /** How often a partition goes to another process, in order. */
  readonly moves: number;
  /** How often a process freezes, and another process takes its partitions. */
  readonly freezes: number;
  /** Per batch between partitions: it never arrives; nobody hears that it did; it comes twice. */
  readonly outboxBatchLost: number;
  readonly answerLost: number;
  readonly outboxBatchTwice: number;
  /** Upper bound of what one way between partitions takes. */
  readonly outboxBatchMs: number;
  /** Per request: the client sends it twice. */
  readonly requestTwice: number;
  /** Per timer and completion: somebody says that it is due, or over, who does not know. */
  readonly falseAlarm: number;
  /** Per batch of records: its sidecar dies, or is replaced and goes on. */
  readonly sidecarLost: number;
  /** Per new sidecar: it begins before what was committed. */
  readonly rewound: number;
  /** Per batch of records: the first of them can become nothing, so its sidecar leaves it out. */
  readonly poison: number;
  /** Per claim of a partition: a bank on its disk is damaged in what it has given to that partition. */
  readonly bankDamaged: number;
  /** Upper bound of what a message between two threads takes. */
  readonly channelMs: number;
}

/** How tight the servers are. Not faults: these stay when the faults are over. */
export interface Limits {
  readonly residentBytesMax: number;
  readonly turnEventsMax: number;
  readonly releaseEffectsMax: number;
  readonly mailboxEventsMax: number;
  readonly timersMax: number;
  readonly eagerStateBytesMax: number;
  /** Groups of more rows are loaded in pages. */
  readonly pageRowsMax: number;
  /** How long a bidirectional stream without notifications is kept. */
  readonly timeoutMs: number;
  /** Part of the services that cannot hear while they speak. */
  readonly requestResponse: number;
  /** Whether the real membership agents decide who owns what, or a wilder hand. */
  readonly isFleet: boolean;
  /** How many threads of one process share the partitions. 0: each process has one, and there are several. */
  readonly threads: number;
  readonly partitions: number;
  /** How many there are at first. */
  readonly processes: number;
  /** Whether there are scopes, limits, rates and pauses. */
  readonly isControlled: boolean;
  /** Part of the clients that all want the same, in one scope, so that they wait in one queue. */
  readonly alike: number;
  /** Part of the others that want the same in one scope, with several limit keys and priorities. */
  readonly together: number;
  /** As in `SchedulerOptions`. */
  readonly queueWindow: number;
  readonly grantsMax: number;
  readonly priorityAgingMs: number;
  /** Longer back-offs give their slots back. */
  readonly yieldThresholdMs: number;
  /** Whether there are topics. */
  readonly isFed: boolean;
  /** As in `HostOptions`. */
  readonly inboxMax: number;
  /** The attempts of a record before it is a dead letter. Infinity: it never is. */
  readonly lettersAfter: number;
}

/** Nothing goes wrong any more: from here on everything must finish. */
export const CALM: Faults = {
  batchLost: 0,
  ackLost: 0,
  readLost: 0,
  crash: 0,
  commitMs: 3,
  loadMs: 3,
  streamLost: 0,
  zombie: 0,
  doubled: 0,
  regrouped: 0,
  notifyLost: 0,
  noSlot: 0,
  unreachable: 0,
  timerLateMs: 0,
  clockStepMs: 0,
  clockSkewMs: 0,
  clockDrift: 0,
  secondOwner: false,
  moves: 0,
  freezes: 0,
  outboxBatchLost: 0,
  answerLost: 0,
  outboxBatchTwice: 0,
  outboxBatchMs: 3,
  requestTwice: 0,
  falseAlarm: 0,
  sidecarLost: 0,
  rewound: 0,
  poison: 0,
  bankDamaged: 0,
  channelMs: 1,
};

/** Each seed has its own faults, and any may be absent: absence finds what constant noise hides. */
export function swarm(chance: Chance): Faults {
  const maybe = (most: number) => chance.happens(0.5) ? 0 : chance.next() * most;
  return {
    batchLost: maybe(0.06),
    ackLost: maybe(0.06),
    readLost: maybe(0.04),
    crash: maybe(0.006),
    commitMs: chance.pick([0, 2, 20, 150]),
    loadMs: chance.pick([0, 2, 20, 300]),
    streamLost: maybe(0.25),
    zombie: maybe(1),
    doubled: maybe(0.5),
    regrouped: maybe(0.5),
    notifyLost: maybe(0.5),
    noSlot: maybe(0.4),
    unreachable: maybe(0.2),
    timerLateMs: maybe(300),
    clockStepMs: maybe(20_000),
    clockSkewMs: maybe(2_000),
    clockDrift: maybe(0.02),
    secondOwner: chance.happens(0.3),
    moves: chance.pick([0, 0, 1, 3]),
    freezes: chance.pick([0, 0, 1, 2]),
    outboxBatchLost: maybe(0.3),
    answerLost: maybe(0.3),
    outboxBatchTwice: maybe(0.3),
    outboxBatchMs: chance.pick([0, 2, 20, 200]),
    requestTwice: maybe(0.5),
    falseAlarm: maybe(0.5),
    sidecarLost: 0,
    rewound: 0,
    poison: 0,
    bankDamaged: 0,
    channelMs: 0,
  };
}

export function limits(chance: Chance): Limits {
  return {
    residentBytesMax: chance.pick([0, 4_000, 1e9]),
    turnEventsMax: chance.pick([1, 3, 1_000]),
    mailboxEventsMax: chance.pick([2, 200]),
    timersMax: chance.pick([1, 2, 1_000]),
    eagerStateBytesMax: chance.pick([0, 12, 1 << 20]),
    timeoutMs: chance.pick([0, 40, 400]),
    requestResponse: chance.pick([0, 0.5, 1]),
    isFleet: chance.happens(0.4),
    threads: 0,
    partitions: chance.pick([1, 2, 2, 3, 4]),
    processes: chance.pick([1, 2, 3]),
    releaseEffectsMax: chance.pick([1, 2, 1_000]),
    pageRowsMax: chance.pick([1, 3, 1_000]),
    isControlled: chance.happens(0.5),
    alike: chance.pick([0, 0, 0.9]),
    together: 0,
    queueWindow: chance.pick([1, 2, 256]),
    grantsMax: chance.pick([1, 2, 256]),
    priorityAgingMs: chance.pick([1, 100, 10_000]),
    yieldThresholdMs: chance.pick([0, 50, 1_000]),
    isFed: false,
    inboxMax: Infinity,
    lettersAfter: Infinity,
  };
}

/** What concerns topics. It has a chance of its own: a seed without topics is what it always was. */
export function feeding(
  chance: Chance,
): Pick<
  Faults & Limits,
  "sidecarLost" | "rewound" | "poison" | "isFed" | "inboxMax" | "lettersAfter"
> {
  return {
    isFed: chance.happens(0.3),
    inboxMax: chance.pick([2, 6, Infinity]),
    sidecarLost: chance.happens(0.5) ? 0 : chance.next() * 0.4,
    rewound: chance.happens(0.5) ? 0 : chance.next(),
    lettersAfter: chance.pick([Infinity, 1, 2, 4]),
    poison: chance.happens(0.5) ? 0 : chance.next() * 0.3,
  };
}

/** Queues that wait together. It has a chance of its own, too. */
export function gathering(chance: Chance): Pick<Limits, "together"> {
  return { together: chance.pick([0, 0, 0, 0.9]) };
}

/** Damage of rows. It has a chance of its own, too. */
export function damaging(chance: Chance): Pick<Faults, "bankDamaged"> {
  return { bankDamaged: chance.pick([0, 0, 0, 0.5]) };
}

/** Threads of one process. They have a chance of their own, too. */
export function threading(chance: Chance): Pick<Faults & Limits, "threads" | "channelMs"> {
  return { threads: chance.pick([0, 0, 0, 0, 2, 3]), channelMs: chance.pick([0, 1, 30]) };
}

/** The faults a seed really has, for a failure's message. */
export function named(faults: Faults): string {
  const on = Object.entries(faults).filter(([, value]) => value !== 0 && value !== false);
  return on.map(([name, value]) =>
    `${name}=${typeof value === "number" ? Math.round(value * 1_000) / 1_000 : value}`
  ).join(" ");
}
