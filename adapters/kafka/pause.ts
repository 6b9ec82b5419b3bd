/** Waits, at most until the signal: then it is over at once. Never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}

/** Rejects when the signal comes first; what comes of `work` then is ignored. */
export async function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(new Error("It is not wanted any more"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true, signal: settled.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    settled.abort();
    work.catch(() => {});
  }
}

/** Rejects if `work` takes longer; what comes of it then is ignored. */
export async function within<T>(what: string, ms: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = pause(ms, timer.signal).then(() => {
    if (!timer.signal.aborted) throw new Error(`${what} took longer than ${ms} ms`);
    return undefined as T;
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    work.catch(() => {});
  }
}
