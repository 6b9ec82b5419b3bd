import { CONNECTION_STATES, type Traffic, type Vitals } from "../vitals.ts";
import type { Exposition } from "./exposition.ts";
import type { Meter } from "./meter.ts";

/** What the page says of the process: its loop, its memory, and what it has open. */
export function processMetrics(page: Exposition, meter: Meter, vitals: Vitals | undefined): void {
  page.family(
    "perdure_event_loop_delay_seconds",
    "histogram",
    "How late the event loop came to a timer, measured ten times a second.",
  ).histogram(meter.delaySeconds);
  if (!vitals) return;
  page.family("perdure_process_start_time_seconds", "gauge", "When the process began, Unix time.")
    .sample(vitals.startedAt / 1000);
  page.family("perdure_process_cpu_seconds_total", "counter", "CPU time of all threads.")
    .sample(vitals.cpuMs / 1000);
  page.family("perdure_process_resident_memory_bytes", "gauge", "Memory the system gave.")
    .sample(vitals.residentBytes);
  page.family("perdure_process_heap_bytes", "gauge", "JavaScript objects, dead ones included.")
    .sample(vitals.heapBytes);
  if (vitals.descriptors) {
    page.family("perdure_process_open_fds", "gauge", "Open file descriptors.")
      .sample(vitals.descriptors.open);
    page.family("perdure_process_max_fds", "gauge", "File descriptors the process may have.")
      .sample(vitals.descriptors.max);
  }
  if (vitals.threads !== undefined) {
    page.family("perdure_process_threads", "gauge", "Threads of the process.")
      .sample(vitals.threads);
  }
  if (vitals.traffic) trafficMetrics(page, vitals.traffic);
}

function trafficMetrics(page: Exposition, traffic: readonly Traffic[]): void {
  page.family(
    "perdure_connections",
    "gauge",
    "Open connections by state; interface endpoints: those to services.",
  );
  for (const one of traffic) {
    for (const state of CONNECTION_STATES) {
      page.sample(one.connections[state], { interface: one.interface, state });
    }
  }
  page.family("perdure_http2_streams", "gauge", "Open HTTP/2 streams.");
  for (const one of traffic) page.sample(one.streams, { interface: one.interface });
  page.family(
    "perdure_queued_bytes",
    "gauge",
    "Bytes written to connections and streams that the system has not taken yet.",
  );
  for (const one of traffic) page.sample(one.queuedBytes, { interface: one.interface });
}
