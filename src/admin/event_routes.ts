import type { ChangeFeed } from "./change_feed.ts";
import type { Routes } from "./route.ts";

/**
 * The route of live updates (docs/spec/admin.md#events). It is not in the OpenAPI document: only our own
 * web interface uses it. `changes`: absent where nothing tells of changes; then there is no such route.
 */
export function eventRoutes(
  { changes }: { readonly changes?: Pick<ChangeFeed, "open"> | undefined },
): Routes {
  if (!changes) return {};
  const show = (isHead: boolean) =>
    new Response(isHead ? null : changes.open(), { headers: HEADERS });
  return {
    "/internal/ui/events": { GET: ({ request }) => show(request.method === "HEAD") },
  };
}

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Proxies of this kind would gather the events.
  "x-accel-buffering": "no",
};
