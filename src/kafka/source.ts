/** Where a subscription reads: `kafka://CLUSTER/TOPIC`, taken apart. */
export interface KafkaSource {
  readonly cluster: string;
  /** As it is written. With `^` at its beginning: a regular expression over topics. May be empty. */
  readonly topic: string;
}

/** The parts of the source of a subscription that is stored. */
export function sourceOf({ source }: { readonly source: string }): KafkaSource {
  const [, cluster = "", topic = ""] = /^kafka:\/\/([^/]*)\/(.*)$/s.exec(source) ?? [];
  return { cluster, topic };
}

/** The topic of a source as brokers know it, or an expression: addresses may have some of it encoded. */
export function topicOf(subscription: { readonly source: string }): string {
  const { topic } = sourceOf(subscription);
  try {
    return decodeURIComponent(topic);
  } catch {
    return topic;
  }
}

/** Whether `topicOf` is a regular expression over topics, and not the name of one. */
export function isExpression(topic: string): boolean {
  return topic.startsWith("^");
}

/** The service and the handler that a subscription calls: `service://SERVICE/HANDLER`, taken apart. */
export interface ServiceSink {
  readonly service: string;
  readonly handler: string;
}

/** The parts of the sink of a subscription that is stored. */
export function sinkOf({ sink }: { readonly sink: string }): ServiceSink {
  const [, service = "", handler = ""] = /^service:\/\/([^/]*)\/(.*)$/s.exec(sink) ?? [];
  return { service, handler };
}
