import type { ComponentType } from "preact";
import type { IconName } from "./widgets/icon.tsx";

/** What a page is given. */
export interface PageProps {
  /** Of the pattern: `:id` as `params.id`. */
  readonly params: Readonly<Record<string, string>>;
}

/** The module of a page. */
export interface PageModule {
  readonly default: ComponentType<PageProps>;
  /**
   * Asks for what the page shows first, as soon as it is loaded: the server works while the browser
   * draws. The page asks for the same by the same keys.
   */
  readonly ask?: (params: PageProps["params"]) => void;
}

export interface Route {
  /** The path below `/ui/`, with `:name` for a segment. */
  readonly path: string;
  readonly title: string;
  /** Loads the page: a chunk of its own. */
  readonly load: () => Promise<PageModule>;
  /** What it is in the header and in the palette. Absent: it is reached by links. */
  readonly nav?: { readonly icon: IconName; /** Behind `g`. */ readonly key: string };
}

/** All pages. The first that matches is shown. */
export const routes: readonly Route[] = [
  {
    path: "",
    title: "Home",
    load: () => import("./pages/home/home.tsx"),
    nav: { icon: "home", key: "h" },
  },
  {
    path: "invocations",
    title: "Invocations",
    load: () => import("./pages/invocations/invocations.tsx"),
    nav: { icon: "list", key: "i" },
  },
  {
    path: "invocations/:id",
    title: "Invocation",
    load: () => import("./pages/invocation/invocation.tsx"),
  },
  {
    path: "file",
    title: "Open a file",
    load: () => import("./pages/file/file.tsx"),
  },
  {
    path: "objects",
    title: "Objects",
    load: () => import("./pages/objects/objects.tsx"),
    nav: { icon: "object", key: "o" },
  },
  // With the key in the query: the empty one, and those that a path cannot have.
  {
    path: "objects/:service",
    title: "Object",
    load: () => import("./pages/objects/object.tsx"),
  },
  {
    path: "objects/:service/:key",
    title: "Object",
    load: () => import("./pages/objects/object.tsx"),
  },
  {
    path: "workflows",
    title: "Workflows",
    load: () => import("./pages/workflows/workflows.tsx"),
    nav: { icon: "workflow", key: "w" },
  },
  {
    path: "workflows/:service",
    title: "Workflow",
    load: () => import("./pages/workflows/workflow.tsx"),
  },
  {
    path: "workflows/:service/:key",
    title: "Workflow",
    load: () => import("./pages/workflows/workflow.tsx"),
  },
  {
    path: "limits",
    title: "Limits",
    load: () => import("./pages/limits/limits.tsx"),
    nav: { icon: "limit", key: "l" },
  },
  {
    path: "kafka",
    title: "Kafka",
    load: () => import("./pages/kafka/kafka.tsx"),
    nav: { icon: "kafka", key: "k" },
  },
  {
    path: "services",
    title: "Services",
    load: () => import("./pages/services/services.tsx"),
    nav: { icon: "service", key: "s" },
  },
  {
    path: "services/:name",
    title: "Service",
    load: () => import("./pages/services/service.tsx"),
  },
  {
    path: "deployments",
    title: "Deployments",
    load: () => import("./pages/deployments/deployments.tsx"),
    nav: { icon: "deployment", key: "d" },
  },
  {
    path: "deployments/:id",
    title: "Deployment",
    load: () => import("./pages/deployments/deployment.tsx"),
  },
  {
    path: "sql",
    title: "SQL",
    load: () => import("./pages/sql/sql_page.tsx"),
    nav: { icon: "sql", key: "q" },
  },
  {
    path: "settings",
    title: "Settings",
    load: () => import("./pages/settings/settings.tsx"),
    nav: { icon: "settings", key: "," },
  },
];
