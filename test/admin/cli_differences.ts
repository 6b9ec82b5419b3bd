/** Lines that only one of the two servers has the command line print. */
export interface CliDifference {
  /** Commands that it concerns. */
  readonly run: RegExp;
  /** Lines, blurred, with our server only. */
  readonly ours?: RegExp;
  /** Lines, blurred, with the reference only. */
  readonly theirs?: RegExp;
  readonly why: string;
}

/**
 * Every difference there may be, and why. What is not listed here fails the test, and so does what
 * is listed and no longer differs.
 */
export const CLI_DIFFERENCES: readonly CliDifference[] = [
  {
    run: /^restate (invocations|services status)/,
    theirs: /^Idempotency key: 01[0-9A-Z]{24}$/,
    why: "the reference gives calls that have none a key of its own; ours need none",
  },
  {
    run: /register http:\/\/127\.0\.0\.1:1$/,
    ours: /^Error: META0003 \[META0003\] error when calling/,
    theirs: /^Error: META0003 \[META0003\] \[META0003\] error when calling/,
    why: "the code once, and the cause in words of the platform",
  },
  {
    run: /^restate (sql|invocations describe foo)/,
    ours: /^Error: <UNKNOWN> Cannot (run|parse) the query: /,
    theirs: /^Error: <UNKNOWN> Datafusion error: /,
    why: "a message says what is wrong in words of ours: the engine is another one",
  },
  {
    run: /^restate (sql|invocations describe foo)/,
    ours: /^-> Http status code 400 Bad Request at/,
    theirs: /^-> Http status code 500 Internal Server Error at/,
    why: "a statement that does not fit the tables is the caller's fault: 400, not 500",
  },
  {
    run: /^restate sql 'show tables'/,
    ours: /^svc public \w+ (VIEW|BASE TABLE)$|^\d+ rows\./,
    theirs: /^restate (public|information_schema) \w+ (VIEW|BASE TABLE)$|^\d+ rows\./,
    why: "the catalog has our name, and the catalog of the catalog is not listed within it",
  },
  {
    run: /^restate vqueues list$/,
    ours: /^ID SERVICE SCOPE|^VQ (Counter|Flow|Greeter) - - /,
    theirs: /^No virtual queues found\.$/,
    why: "virtual queues are shown whether flow control is enabled or not",
  },
  {
    run: /^restate -y (kafka-clusters|subscriptions) create/,
    ours: /^Error: (META0009|<UNKNOWN>) /,
    theirs: /^Error: (META0009|<UNKNOWN>) /,
    why: "the same refusals in other words, with what to do",
  },
];

/** The same of a server with flow control. */
export const QUEUE_DIFFERENCES: readonly CliDifference[] = [
  {
    run: /^restate vqueues describe/,
    ours: /^(Active: )?true$/,
    theirs: /^(Active: )?false$/,
    why: "a queue whose entries are all suspended is not over, so ours is still active",
  },
];
