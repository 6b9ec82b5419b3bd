import type { Routes } from "./route.ts";

/** Numbers for a monitoring system, in its own text format: no JSON, and nothing else. */
export function metricsRoutes(metrics: (() => Promise<Response>) | undefined): Routes {
  if (!metrics) return {};
  return {
    "/metrics": {
      GET: {
        id: "metrics",
        tag: "health",
        summary: "What the server counts and measures, in the Prometheus text format",
        answers: { 200: ["Prometheus text format 0.0.4", { type: "string" }, "text/plain"] },
        handle: metrics,
      },
    },
  };
}
