import { BadId, checkQueueId } from "../model/id.ts";
import { badField } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import { empty } from "./reply.ts";
import type { Call, Route, Routes } from "./route.ts";

/** The routes that pause virtual queues (docs/spec/admin.md#virtual-queues). */
export function queueRoutes({ registry }: { readonly registry: Registry }): Routes {
  const path = "/vqueues/:vqueue_id";
  return {
    [`${path}/pause`]: { POST: pausing(registry, true) },
    [`${path}/resume`]: { POST: pausing(registry, false) },
  };
}

function pausing(registry: Registry, isPaused: boolean): Route {
  const verb = isPaused ? "pause" : "resume";
  return {
    id: `${verb}_vqueue`,
    tag: "vqueue",
    summary: isPaused ? "Pause a virtual queue: nothing of it starts" : "Resume a virtual queue",
    answers: { 202: ["Accepted, whether or not anything is in it"] },
    refusals: [409, 503],
    handle: async (call) => {
      await registry.controls.pauseQueue(idOf(call), isPaused);
      return empty(202);
    },
  };
}

function idOf({ params }: Call): string {
  try {
    return checkQueueId(params["vqueue_id"] ?? "");
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    throw badField("vqueue_id", cause.message, { cause });
  }
}
