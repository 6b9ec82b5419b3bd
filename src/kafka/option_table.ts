import {
  flag,
  listOf,
  matching,
  nonempty,
  oneOf,
  type OptionKind,
  range,
  text,
} from "./option_kinds.ts";

const INT = 2_147_483_647;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Options of librdkafka that the sidecar follows. */
export const FOLLOWED: Readonly<Record<string, OptionKind>> = {
  "auto.commit.interval.ms": range(0, DAY_MS),
  "auto.offset.reset": oneOf(
    "earliest",
    "smallest",
    "beginning",
    "latest",
    "largest",
    "end",
    "error",
  ),
  "bootstrap.servers": text,
  "client.id": text,
  "client.rack": text,
  "enable.ssl.certificate.verification": flag,
  "fetch.max.bytes": range(0, 2_147_483_135),
  "fetch.message.max.bytes": range(1, 1_000_000_000),
  "fetch.min.bytes": range(1, 100_000_000),
  "fetch.wait.max.ms": range(0, 300_000),
  "group.id": nonempty,
  "heartbeat.interval.ms": range(1, HOUR_MS),
  "isolation.level": oneOf("read_committed", "read_uncommitted"),
  "max.in.flight.requests.per.connection": range(1, 1_000_000),
  "max.poll.interval.ms": range(1, DAY_MS),
  "metadata.max.age.ms": range(1, DAY_MS),
  "partition.assignment.strategy": listOf("range", "roundrobin"),
  "sasl.mechanism": oneOf("plain", "scram-sha-256", "scram-sha-512", "oauthbearer"),
  "sasl.oauthbearer.client.id": text,
  "sasl.oauthbearer.client.secret": text,
  "sasl.oauthbearer.config": text,
  "sasl.oauthbearer.extensions": text,
  "sasl.oauthbearer.method": oneOf("default", "oidc"),
  "sasl.oauthbearer.scope": text,
  "sasl.oauthbearer.token.endpoint.url": matching(
    /^https?:\/\/\S+$/i,
    "an http:// or https:// URL",
  ),
  "enable.sasl.oauthbearer.unsecure.jwt": flag,
  "sasl.password": text,
  "sasl.username": text,
  "security.protocol": oneOf("plaintext", "ssl", "sasl_plaintext", "sasl_ssl"),
  "session.timeout.ms": range(1, HOUR_MS),
  "socket.connection.setup.timeout.ms": range(1000, INT),
  "socket.timeout.ms": range(10, 300_000),
  "ssl.ca.location": text,
  "ssl.ca.pem": text,
  "ssl.certificate.location": text,
  "ssl.certificate.pem": text,
  "ssl.cipher.suites": text,
  "ssl.endpoint.identification.algorithm": oneOf("none", "https"),
  "ssl.key.location": text,
  "ssl.key.password": text,
  "ssl.key.pem": text,
  "ssl.keystore.location": text,
  "ssl.keystore.password": text,
  "topic.metadata.refresh.interval.ms": range(-1, HOUR_MS),
};

/** Other names that librdkafka has for some of them. */
export const ALIASES: Readonly<Record<string, string>> = {
  "max.in.flight": "max.in.flight.requests.per.connection",
  "max.partition.fetch.bytes": "fetch.message.max.bytes",
  "metadata.broker.list": "bootstrap.servers",
  "sasl.mechanisms": "sasl.mechanism",
  "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
  "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
};

/** Options of the sidecar itself that say how it connects: librdkafka has none for the same. */
export const OWN_CLIENT: Readonly<Record<string, OptionKind>> = {
  "sasl.oauthbearer.token.command": nonempty,
};

const HEADER_NAME = "[!#$%&'*+.^_`|~0-9a-z-]+";

/** What beyond librdkafka a subscription may say. */
export const OWN: Readonly<Record<string, OptionKind>> = {
  "filter": matching(
    /^(header:[^=]+|json:(\/[^=]*)?)=/s,
    '"header:NAME=VALUE" or "json:/POINTER=VALUE"',
  ),
  "headers.prefix": matching(
    new RegExp(`^(?!kafka\\.|svc\\.)${HEADER_NAME}$`, "i"),
    'the beginning of header names, and not "kafka." or "svc."',
  ),
  "key.encoding": matching(
    /^(utf8|base64|hex|header:.+|json:(\/.*)?)$/s,
    "utf8, base64, hex, header:NAME or json:/POINTER",
  ),
  "max.attempts": range(1, INT),
  "offset.start": time,
  "on.poison": matching(
    /^(block|skip|dead-letter:(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249})$/,
    "block, skip or dead-letter:TOPIC",
  ),
};

function time(given: string): string | undefined {
  const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
  if (iso.test(given) && !Number.isNaN(Date.parse(given))) return undefined;
  return 'must be a time with a zone, such as "2026-11-20T10:00:00Z"';
}

/**
 * Options of librdkafka that are accepted and do nothing: they tune its own threads, queues and logs,
 * concern producers, or are set by the sidecar.
 */
export const IGNORED: ReadonlySet<string> = new Set(
  `acks allow.auto.create.topics api.version.fallback.ms api.version.request
  api.version.request.timeout.ms auto.commit.enable batch.num.messages batch.size
  broker.address.family broker.address.ttl broker.version.fallback builtin.features check.crcs
  client.dns.lookup compression.codec compression.level compression.type connections.max.idle.ms
  consume.callback.max.messages coordinator.query.interval.ms debug delivery.report.only.error
  delivery.timeout.ms enable.auto.commit enable.auto.offset.store enable.gapless.guarantee
  enable.idempotence enable.metrics.push enable.partition.eof enable.random.seed enabled_events
  fetch.error.backoff.ms fetch.queue.backoff.ms group.instance.id group.protocol.type
  group.remote.assignor internal.termination.signal linger.ms log.connection.close log.queue
  log.thread.name log_level message.copy.max.bytes message.max.bytes message.send.max.retries
  message.timeout.ms metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy
  offset.store.method offset.store.path offset.store.sync.interval.ms partitioner
  produce.offset.report queue.buffering.backpressure.threshold queue.buffering.max.kbytes
  queue.buffering.max.messages queue.buffering.max.ms queued.max.messages.kbytes
  queued.min.messages queuing.strategy receive.message.max.bytes reconnect.backoff.jitter.ms
  reconnect.backoff.max.ms reconnect.backoff.ms request.required.acks request.timeout.ms retries
  retry.backoff.max.ms retry.backoff.ms socket.blocking.max.ms socket.keepalive.enable
  socket.max.fails socket.nagle.disable socket.receive.buffer.bytes socket.send.buffer.bytes
  ssl.ca.certificate.stores ssl.curves.list ssl.sigalgs.list statistics.interval.ms
  sticky.partitioning.linger.ms topic.blacklist topic.metadata.propagation.max.ms
  topic.metadata.refresh.fast.cnt topic.metadata.refresh.fast.interval.ms
  topic.metadata.refresh.sparse transaction.timeout.ms transactional.id`.split(/\s+/),
);

/** Options of librdkafka that change who may connect, and that the sidecar cannot follow. */
export const UNSUPPORTED: ReadonlySet<string> = new Set(
  `https.ca.location https.ca.pem plugin.library.paths sasl.kerberos.keytab
  sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin sasl.kerberos.principal
  sasl.kerberos.service.name sasl.oauthbearer.assertion.algorithm
  sasl.oauthbearer.assertion.claim.aud sasl.oauthbearer.assertion.claim.exp.seconds
  sasl.oauthbearer.assertion.claim.iss sasl.oauthbearer.assertion.claim.jti.include
  sasl.oauthbearer.assertion.claim.nbf.seconds sasl.oauthbearer.assertion.claim.sub
  sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.jwt.template.file
  sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.assertion.private.key.passphrase
  sasl.oauthbearer.assertion.private.key.pem sasl.oauthbearer.grant.type
  sasl.oauthbearer.metadata.authentication.type ssl.crl.location ssl.engine.id
  ssl.engine.location ssl.providers`.split(/\s+/),
);

/** Values that librdkafka takes and the sidecar cannot follow, and what it follows instead. */
export const UNSUPPORTED_VALUES: Readonly<Record<string, OptionKind>> = {
  "group.protocol": oneOf("classic"),
};

/** Names of the Java client, and what librdkafka has for the same. Empty: nothing. */
export const JAVA_ONLY: Readonly<Record<string, string>> = {
  "auto.include.jmx.reporter": "",
  "default.api.timeout.ms": "",
  "exclude.internal.topics": "",
  "fetch.max.wait.ms": "fetch.wait.max.ms",
  "interceptor.classes": "",
  "key.deserializer": "",
  "key.serializer": "",
  "max.poll.records": "",
  "metric.reporters": "",
  "metrics.num.samples": "",
  "metrics.recording.level": "",
  "metrics.sample.window.ms": "",
  "receive.buffer.bytes": "socket.receive.buffer.bytes",
  "sasl.client.callback.handler.class": "",
  "sasl.jaas.config": "sasl.username, sasl.password",
  "sasl.login.callback.handler.class": "",
  "sasl.login.class": "",
  "send.buffer.bytes": "socket.send.buffer.bytes",
  "ssl.enabled.protocols": "",
  "ssl.keymanager.algorithm": "",
  "ssl.keystore.certificate.chain": "ssl.certificate.pem",
  "ssl.keystore.key": "ssl.key.pem",
  "ssl.keystore.type": "ssl.keystore.location",
  "ssl.protocol": "",
  "ssl.provider": "",
  "ssl.secure.random.implementation": "",
  "ssl.trustmanager.algorithm": "",
  "ssl.truststore.certificates": "ssl.ca.pem",
  "ssl.truststore.location": "ssl.ca.location",
  "ssl.truststore.password": "ssl.ca.location",
  "ssl.truststore.type": "ssl.ca.location",
  "value.deserializer": "",
  "value.serializer": "",
};
