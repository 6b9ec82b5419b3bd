import { CONNECTION_STATES, type Traffic, type Vitals } from "../vitals.ts";
import type { Page } from "./metric_table.ts";
import type { Meter } from "./meter.ts";

/** The metrics of the process: event loop, memory, descriptors and connections. */
export function processMetrics(page: Page, meter: Meter, vitals: Vitals | undefined): void {
  page.family("perdure_event_loop_delay_seconds").histogram(meter.delaySeconds);
  if (!vitals) return;
  page.family("perdure_process_start_time_seconds")
    .sample(vitals.startedAt / 1000);
  page.family("perdure_process_cpu_seconds_total")
    .sample(vitals.cpuMs / 1000);
  page.family("perdure_process_resident_memory_bytes")
    .sample(vitals.residentBytes);
  page.family("perdure_process_heap_bytes")
    .sample(vitals.heapBytes);
  if (vitals.descriptors) {
    page.family("perdure_process_open_fds")
      .sample(vitals.descriptors.open);
    page.family("perdure_process_max_fds")
      .sample(vitals.descriptors.max);
  }
  if (vitals.threads !== undefined) {
    page.family("perdure_process_threads")
      .sample(vitals.threads);
  }
  if (vitals.traffic) trafficMetrics(page, vitals.traffic);
}

function trafficMetrics(page: Page, traffic: readonly Traffic[]): void {
  page.family("perdure_connections");
  for (const one of traffic) {
    for (const state of CONNECTION_STATES) {
      page.sample(one.connections[state], { interface: one.interface, state });
    }
  }
  page.family("perdure_http2_streams");
  for (const one of traffic) page.sample(one.streams, { interface: one.interface });
  page.family("perdure_queued_bytes");
  for (const one of traffic) page.sample(one.queuedBytes, { interface: one.interface });
}
