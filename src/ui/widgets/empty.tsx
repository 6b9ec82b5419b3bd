import type { ComponentChildren } from "preact";
import type { ApiError } from "../data/client.ts";
import { Icon } from "./icon.tsx";

/** What is shown where there is nothing: why, and what to do next. */
export function Empty({ title, children }: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>{title}</p>
      {children}
    </div>
  );
}

/** Something that is read, as far as it can fail. */
interface Read {
  readonly error?: ApiError;
  readonly refresh: () => void;
}

/** The first failure of what a part of a page reads. Its button asks again for all that failed. */
export function FailedReads({ reads }: { readonly reads: readonly Read[] }) {
  const failed = reads.filter(({ error }) => error !== undefined);
  const [first] = failed;
  if (!first?.error) return null;
  return <Failed error={first.error} onRetry={() => failed.forEach(({ refresh }) => refresh())} />;
}

/** A request that failed, with what the server said, and a button to ask again. */
export function Failed({ error, onRetry }: {
  readonly error: ApiError;
  readonly onRetry?: () => void;
}) {
  return (
    <div class="failed-box" role="alert">
      <Icon name="warning" />
      <span class="text">{error.message}</span>
      {error.code !== undefined && <code>{error.code}</code>}
      {onRetry && <button type="button" onClick={onRetry}>Ask again</button>}
    </div>
  );
}
