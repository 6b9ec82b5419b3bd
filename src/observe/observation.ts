import { Failure } from "../errors.ts";
import type { Platform } from "../ports.ts";
import type { ByHandler } from "./by_handler.ts";
import { Exporter } from "./exporter.ts";
import { limitedLog } from "./limited_log.ts";
import { Meter } from "./meter.ts";
import { type MetricsSources, metricsText, type PartitionGauges } from "./metrics.ts";
import { Tracer } from "./tracer.ts";
import { Watch } from "./watch.ts";

export interface TracingOptions {
  /** Address of a collector for OTLP over HTTP. The empty text: no spans are made. */
  readonly endpoint: string;
  /** `name=value` each. */
  readonly headers: readonly string[];
  readonly samplePercent: number;
  readonly spansMax: number;
}

export interface ObservationOptions {
  readonly platform: Platform;
  readonly version: string;
  /** The service name of this server at the collector. */
  readonly clusterName: string;
  /** Whether records hold keys, names of steps and messages of handlers. */
  readonly isDetailed: boolean;
  readonly tracing: TracingOptions;
}

/** The part of a partition that metrics read. */
export interface Observed {
  readonly waiting: number;
  gauges(): PartitionGauges | undefined;
  statusCounts(timeoutMs: number): Promise<ByHandler | undefined>;
}

/** What else a page of metrics is made of. */
export type PageSources = Pick<MetricsSources, "schema" | "members" | "subscriptions">;

/** Scrapers give up after ten seconds; counts that take longer are on a later page. */
const COUNT_TIMEOUT_MS = 2000;

/** Wires the observation of the server: counts, spans, records and the page of metrics. */
export class Observation {
  readonly watch: Watch;
  /** Absent: no spans are made. */
  readonly tracer: Tracer | undefined;
  readonly #options: ObservationOptions;
  readonly #meter = new Meter();
  readonly #exporter: Exporter | undefined;
  readonly #unwatch: (() => void) | undefined;

  /** Throws `Failure` RT0002 for invalid headers, and what `Exporter` throws. */
  constructor(options: ObservationOptions) {
    const { platform: { clock, random, log, watchLoop }, tracing, isDetailed } = options;
    const now = () => clock.now();
    const limited = limitedLog(log, now);
    this.#options = options;
    this.#exporter = tracing.endpoint === "" ? undefined : exporter({
      ...options,
      platform: { ...options.platform, log: limited },
    });
    const { samplePercent } = tracing;
    const sink = this.#exporter;
    this.tracer = sink &&
      new Tracer({ add: (span) => sink.add(span), random, now, samplePercent });
    this.watch = new Watch({
      meter: this.#meter,
      tracer: this.tracer,
      log: limited,
      isDetailed,
    });
    this.#unwatch = watchLoop?.((ms) => this.#meter.delaySeconds.add(ms / 1000));
  }

  /** The page of metrics. The first one begins to count the stored invocations. */
  async page(
    observed: Observed,
    { schema, members, subscriptions }: PageSources,
  ): Promise<string> {
    const invocations = await observed.statusCounts(COUNT_TIMEOUT_MS);
    const { platform, version } = this.#options;
    return metricsText({
      version,
      meter: this.#meter,
      schema,
      invocations,
      partition: observed.gauges(),
      waitingRequests: observed.waiting,
      members,
      subscriptions,
      spans: this.#exporter,
      vitals: platform.vitals?.(),
    });
  }

  /** Sends the spans that wait, for a few seconds at most. The dial is closed after it. */
  async close(): Promise<void> {
    this.#unwatch?.();
    await this.#exporter?.close();
  }
}

function exporter({ platform, version, clusterName, tracing }: ObservationOptions): Exporter {
  const { clock, log, dial } = platform;
  return new Exporter({
    endpoint: tracing.endpoint,
    headers: readHeaders(tracing.headers),
    spansMax: tracing.spansMax,
    resource: {
      "service.name": "perdure",
      "service.namespace": clusterName,
      "service.version": version,
    },
    clock,
    log,
    dial,
  });
}

/** Throws `Failure` RT0002, whose message omits the value, which may be a token. */
function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers = new Headers();
  for (const [i, line] of lines.entries()) {
    const at = line.indexOf("=");
    try {
      if (at < 1) throw new TypeError("No equals sign");
      headers.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
    } catch (cause) {
      const message = `Cannot read tracing-headers: entry ${i + 1} is not "name=value"`;
      throw new Failure("RT0002", message, { cause });
    }
  }
  return Object.fromEntries(headers);
}
