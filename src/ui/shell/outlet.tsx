import { type ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { server } from "../data/server.ts";
import { type PageProps, type Route, routes } from "../routes.ts";
import { match, place } from "../state/router.ts";
import { Empty } from "../widgets/empty.tsx";

interface Found {
  readonly route: Route;
  readonly params: Record<string, string>;
}

function find(path: string): Found | undefined {
  for (const route of routes) {
    const params = match(route.path, path);
    if (params) return { route, params };
  }
  return undefined;
}

const loaded = new Map<Route, ComponentType<PageProps>>();

/** The frame is drawn without its page where that takes longer to load. In ms. */
const WAIT_MS = 100;

/**
 * Loads the page of the current place and has it ask for what it shows. Resolves when there is
 * something to draw: drawn at once, frame and page take less than one after the other.
 */
export async function startPage(): Promise<void> {
  const found = find(place.value.path);
  if (!found) return;
  const { route, params } = found;
  const page = route.load().then((page) => {
    loaded.set(route, page.default);
    if (server.value) page.ask?.(params);
    // A failure is shown when the page is asked for again.
  }).catch(() => {});
  await Promise.race([page, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]);
}

/** The page of a route, once its chunk is there. */
function useLoaded(route: Route | undefined): ComponentType<PageProps> | Error | undefined {
  const [failure, setFailure] = useState<Error>();
  const [, setCount] = useState(0);
  const page = route && loaded.get(route);
  useEffect(() => {
    setFailure(undefined);
    // As it was drawn: it may have been loaded between then and now.
    if (!route || page) return;
    route.load().then((page) => {
      loaded.set(route, page.default);
      setCount((count) => count + 1);
    }, setFailure);
  }, [route]);
  return failure ?? page;
}

/** The page of the current place. */
export function Outlet() {
  const { path } = place.value;
  const found = find(path);
  const page = useLoaded(found?.route);
  useEffect(() => {
    document.title = `${found?.route.title ?? "Not found"} · perdure`;
  }, [found?.route]);
  if (!found) return <NotFound path={path} />;
  if (page instanceof Error) return <NotLoaded />;
  // What a page asks for depends on what the server can do.
  if (!page || !server.value) return <p class="loading" role="status">Loading…</p>;
  const Page = page;
  return <Page key={found.route.path} params={found.params} />;
}

function NotFound({ path }: { readonly path: string }) {
  return (
    <section class="page">
      <h1>Not found</h1>
      <Empty title={`There is no page ${path}`}>
        <a href="./">Home</a>
      </Empty>
    </section>
  );
}

/** The server was replaced by another version, whose files have other names. */
function NotLoaded() {
  return (
    <section class="page">
      <h1>Not loaded</h1>
      <Empty title="This page could not be loaded. The server may have been updated.">
        <button type="button" onClick={() => location.reload()}>Reload</button>
      </Empty>
    </section>
  );
}
