import { assert, unreachable } from "../../assert.ts";
import type { Command } from "../../model/command.ts";
import type { AttemptFailure, AttemptSite, InvocationDraft } from "../../model/invocation.ts";
import { entryType } from "../../model/journal.ts";
import type { FramesReceived } from "../event.ts";
import { addSlotWait } from "../flow/status.ts";
import { backOff } from "../lifecycle/attempt_ended.ts";
import type { Turn } from "../turn.ts";
import { attach } from "./attach.ts";
import { call, oneWayCall } from "./call.ts";
import { append } from "./notification.ts";
import { promise } from "./promise.ts";
import { runCompleted } from "./run.ts";
import { signal } from "./signal.ts";
import { sleep } from "./sleep.ts";
import { changeState, lazyState, readState } from "./state.ts";

/** Why a command cannot be carried out: it and all later frames are discarded (RT0017 …). */
export interface Refusal extends Pick<AttemptFailure, "code" | "message"> {
  /** Absent: the retry policy decides. */
  readonly behavior?: "pause";
}

/**
 * Frames of a running attempt. Each is stored and takes effect, in order; frames of a stale
 * attempt, and duplicates, change nothing.
 */
export function framesReceived(turn: Turn, event: FramesReceived): void {
  // Frames only append to the journal, so a long one that was evicted is not loaded again.
  const row = turn.findAlone(event.id);
  if (row?.status.kind !== "invoked" || row.attempt !== event.attempt) return;
  const known = row.heard - event.first;
  assert(known >= 0, "Frames of an attempt arrive in order");
  if (known >= event.frames.length) return;
  const draft = turn.draft({ ...row });
  addSlotWait(draft, event.site?.waitedMs);
  for (let i = known; i < event.frames.length; i++) {
    const frame = event.frames[i];
    assert(frame, "Frames have no holes");
    const refusal = apply(turn, draft, { frame, event, number: i });
    if (refusal) return refuse(turn, draft, { ...refusal, site: event.site });
    draft.heard++;
    draft.pin ??= event.pin;
  }
}

/** The position of a command in its event: new ids are made from the entropy and this position. */
export interface FramePosition {
  readonly event: FramesReceived;
  readonly number: number;
}

function apply(
  turn: Turn,
  draft: InvocationDraft,
  { frame, ...position }: FramePosition & { frame: Command },
): Refusal | undefined {
  if (isFull(turn, draft) && frame.kind !== "output") return tooLong(draft);
  if (frame.kind !== "runCompletion") {
    draft.failuresSinceCommand = 0;
    draft.failingSince = undefined;
    draft.lastFailure = undefined;
  }
  switch (frame.kind) {
    case "output":
      return output(turn, draft, frame);
    case "run":
      return store(turn, draft, entryType.run, frame.bytes);
    case "runCompletion":
      return runCompleted(turn, draft, frame);
    case "sleep":
      return sleep(turn, draft, frame);
    case "call":
      return call(turn, draft, frame, position);
    case "oneWayCall":
      return oneWayCall(turn, draft, frame, position);
    case "getLazyState":
    case "getLazyStateKeys":
      return lazyState(turn, draft, frame);
    case "getEagerState":
    case "getEagerStateKeys":
      return readState(turn, draft, frame);
    case "setState":
    case "clearState":
    case "clearAllState":
      return changeState(turn, draft, frame);
    default:
      return applyRare(turn, draft, frame);
  }
}

type Rare =
  | Parameters<typeof promise>[2]
  | Parameters<typeof signal>[2]
  | Parameters<typeof attach>[2];

function applyRare(turn: Turn, draft: InvocationDraft, frame: Rare): Refusal | undefined {
  switch (frame.kind) {
    case "getPromise":
    case "peekPromise":
    case "completePromise":
      return promise(turn, draft, frame);
    case "sendSignal":
    case "completeAwakeable":
      return signal(turn, draft, frame);
    case "attach":
    case "getOutput":
      return attach(turn, draft, frame);
    default:
      unreachable(frame);
  }
}

/** Stores a command with its bytes unchanged. */
export function store(
  turn: Turn,
  draft: InvocationDraft,
  type: number,
  bytes: Uint8Array,
): undefined {
  append(turn, draft, { kind: "command", type, bytes });
}

const SUCCESS = {};

function output(
  turn: Turn,
  draft: InvocationDraft,
  { bytes, result }: Command & { kind: "output" },
): undefined {
  store(turn, draft, entryType.output, bytes);
  draft.answer = result.kind === "failure" ? { failure: result.failure } : SUCCESS;
  draft.output = result.kind === "value" ? result.value : undefined;
}

/** Ends an attempt whose command is refused; its earlier commands stay. */
function refuse(
  turn: Turn,
  draft: InvocationDraft,
  { code, message, site, ...how }: Refusal & { readonly site: AttemptSite | undefined },
): void {
  turn.emit({ type: "abort", id: draft.id, attempt: draft.attempt });
  const failure = { code, status: 500, message };
  backOff(turn, draft, { failure, reached: true, jitter: 0.5, site, since: turn.now, ...how });
}

/** Every attempt replays the whole journal, so its length is limited. */
function isFull(turn: Turn, { journal }: InvocationDraft): boolean {
  return journal >= (turn.schema.defaults.limits?.journalEntriesMax ?? Infinity);
}

/** The next attempt would repeat the same command, so the invocation is paused. */
function tooLong({ journal }: InvocationDraft): Refusal {
  return {
    code: "RT0032",
    message: `the journal has ${journal} entries, which is the limit ` +
      "(worker.invoker.journal-entries-limit): go on in a new invocation, or raise the limit and resume",
    behavior: "pause",
  };
}
