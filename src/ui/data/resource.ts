import { effect, type Signal, signal, untracked } from "@preact/signals";
import { ApiError } from "./client.ts";
import { settings } from "../state/settings.ts";
import { type About, type Hint, isAbout } from "./hint.ts";
import { answeredAt, isHinted, isLive, isReachable } from "./live.ts";

/** What is known of something that is read from the server. */
export interface State<T> {
  /** The newest answer. It stays while a newer one is asked for, and when that fails. */
  readonly data?: T;
  /** Why the newest request failed. */
  readonly error?: ApiError;
  readonly isLoading: boolean;
  /** When `data` was answered, in ms since the epoch. */
  readonly at?: number;
}

/** Something that shows it. */
interface Use {
  readonly everyMs: number;
  readonly about: About | undefined;
}

export type Load<T> = (signal: AbortSignal) => Promise<T>;

/** A poll waits this many times as long as its request took, so that it uses a fifth of the time at most. */
const REST_FACTOR = 5;
/** Failures double the wait, up to this many times. */
const FAILURES_MAX = 4;
/** Polls are rarer by this while the server tells of changes. */
const HINTED_FACTOR = 6;
/** Polls are not more frequent where people have asked for that, in ms. */
const CALM_MS = 30_000;
/** The least time between two requests that follow hints, in ms. */
const HINT_PAUSE_MS = 400;
/** How long an answer that nothing shows is kept: for the way back. */
const KEEP_MS = 30_000;

/** One thing that is read: shared by all that show it, polled while at least one does. */
export class Resource<T> {
  readonly state: Signal<State<T>> = signal({ isLoading: true });
  readonly #load: Load<T>;
  readonly #onUnused: () => void;
  readonly #uses: Use[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | undefined;
  #failures = 0;
  #tookMs = 0;
  /** Something has changed since the newest request began: what it answers may be older. */
  #again: "now" | "soon" | undefined;

  constructor(load: Load<T>, onUnused: () => void) {
    this.#load = load;
    this.#onUnused = onUnused;
  }

  /**
   * Begins to read, and again every `everyMs` (0: only once) and after hints. Returns what ends it.
   * `about`: hints of other things change nothing. Default: all hints may.
   */
  use(everyMs: number, about?: About): () => void {
    const use = { everyMs, about };
    this.#uses.push(use);
    clearTimeout(this.#timer);
    const age = Date.now() - (untracked(() => this.state.value).at ?? 0);
    const isOld = everyMs === 0 ? age > KEEP_MS : age >= everyMs;
    if (isOld || this.#again !== undefined) void this.refresh();
    else this.#plan();
    return () => {
      this.#uses.splice(this.#uses.indexOf(use), 1);
      if (this.#uses.length > 0) return;
      if (this.#request) this.#again = "now";
      this.#request?.abort();
      this.#request = undefined;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(this.#onUnused, KEEP_MS);
    };
  }

  /** Asks now. A request in flight is the answer, too. */
  async refresh(): Promise<void> {
    if (this.#request) return;
    clearTimeout(this.#timer);
    const request = this.#request = new AbortController();
    this.#again = undefined;
    const before = untracked(() => this.state.value);
    if (!before.isLoading) this.state.value = { ...before, isLoading: true };
    const startedAt = performance.now();
    try {
      const data = await this.#load(request.signal);
      if (request !== this.#request) return;
      this.#failures = 0;
      this.state.value = { data, isLoading: false, at: answeredAt.value = Date.now() };
      isReachable.value = true;
    } catch (cause) {
      if (request !== this.#request) return;
      this.#fail(cause);
    }
    this.#request = undefined;
    this.#tookMs = performance.now() - startedAt;
    if (this.#again === "now") void this.refresh();
    else if (this.#again === "soon") this.hint();
    else this.#plan();
  }

  #fail(cause: unknown): void {
    this.#failures = Math.min(this.#failures + 1, FAILURES_MAX);
    const error = cause instanceof ApiError ? cause : new ApiError(0, String(cause));
    if (error.status === 0) isReachable.value = false;
    this.state.value = { ...untracked(() => this.state.value), error, isLoading: false };
  }

  /** Plans the next request, unless nothing wants one. */
  #plan(): void {
    clearTimeout(this.#timer);
    const wanted = this.#uses.flatMap(({ everyMs }) => everyMs > 0 ? [everyMs] : []);
    if (wanted.length === 0) return;
    const least = settings.peek().refresh === "calm" ? CALM_MS : 0;
    const everyMs = Math.max(least, Math.min(...wanted) * (isHinted.peek() ? HINTED_FACTOR : 1));
    this.#askIn(Math.max(everyMs, this.#tookMs * REST_FACTOR) * 2 ** this.#failures);
  }

  #askIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (isLive.value && !document.hidden) void this.refresh();
    }, ms);
  }

  /** Something has changed that some use of it may show. While nothing uses it, that is not known. */
  heard(hint: Hint): void {
    const mayShow = ({ about }: Use) => about === undefined || isAbout(hint, about);
    if (this.#uses.length === 0 || this.#uses.some(mayShow)) this.hint();
  }

  /**
   * Asks soon if it is polled, else when it is used again: something has changed. It pauses between two
   * requests all the same.
   */
  hint(): void {
    if (!this.#isPolled() || this.#request) return void (this.#again ??= "soon");
    const pauseMs = Math.max(HINT_PAUSE_MS, this.#tookMs * REST_FACTOR) * 2 ** this.#failures;
    const agoMs = Date.now() - (untracked(() => this.state.value).at ?? 0);
    this.#askIn(Math.max(0, pauseMs - agoMs));
  }

  /**
   * Asks at once if it is polled, else when it is used again: something was changed, or the page is
   * visible or live again. A request in flight may be older than the change, so another one follows.
   */
  wake(): void {
    if (!this.#isPolled() || this.#request) this.#again = "now";
    else void this.refresh();
  }

  #isPolled(): boolean {
    return this.#uses.some(({ everyMs }) => everyMs > 0);
  }
}

const resources = new Map<string, Resource<unknown>>();

/** The resource of a key. `load` is used when there is none yet. */
export function resourceOf<T>(key: string, load: Load<T>): Resource<T> {
  const known = resources.get(key);
  if (known) return known as Resource<T>;
  const made = new Resource(load, () => void resources.delete(key));
  resources.set(key, made as Resource<unknown>);
  return made;
}

/** Asks again soon for all that is polled and may be other than it was, as the server says. */
export function hintAll(hint: Hint): void {
  for (const resource of resources.values()) resource.heard(hint);
}

/** Asks again for all that is shown: after something was changed. */
export function refreshAll(): void {
  for (const resource of resources.values()) resource.wake();
}

/** Polls stop while the page is hidden or paused, and continue at once afterwards. */
export function startPolling(): void {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && isLive.value) refreshAll();
  });
  effect(() => {
    if (isLive.value && !document.hidden) refreshAll();
  });
}
