import { KAFKA } from "./cli_kafka.ts";

/** One command line, what it must say, and what is done before it. */
export interface Step {
  /** Words after `restate`; `$name` is replaced by what the world knows under that name. */
  readonly run: string;
  /** Each must occur in what is printed; the command is repeated until they do. */
  readonly says?: readonly (string | RegExp)[];
  /** Its exit code. Default: 0. */
  readonly code?: number;
  /** A `sed` expression: what the user does in the editor that the command opens. */
  readonly editor?: string;
  /** Made before, one after the other. */
  readonly first?: readonly Call[];
  /** Names for which `Greeter/flaky` fails from now on, or no longer. */
  readonly breaks?: Readonly<Record<string, boolean>>;
  /** Prints a list beside something else, in no order: compared by words, not by lines. */
  readonly isLoose?: boolean;
}

/** A call of a handler, that must not fail on its way. */
export interface Call {
  /** After the prefix: `call/Greeter/greet`. */
  readonly path: string;
  readonly input?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Under which name steps find its invocation. */
  readonly as?: string;
}

const NOBODY = "inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo";

/** Deployments and services, on a server that has none yet. */
const REGISTRY: readonly Step[] = [
  { run: "whoami", says: ["is healthy!", "Supported admin API  [2,3,4]"] },
  { run: "services list", says: ["No services were found"] },
  { run: "deployments list", says: ["No deployments were found"] },
  { run: "-y deployments register $endpoint --metadata a=b", says: [/Greeter +1/, /Flow +1/] },
  { run: "-y deployments register $endpoint", says: ["already exists", "No changes will be made"] },
  {
    run: "-y deployments register --force $endpoint",
    says: ["This is a DANGEROUS operation!", "Revision: 1 -> 2", /Counter +2/],
  },
  { run: "-y deployments register http://127.0.0.1:1", code: 1, says: ["META0003"] },
  { run: "deployments list", says: ["$deployment", "Counter [2]"], isLoose: true },
  { run: "deployments list --extra", says: ["Active"], isLoose: true },
  {
    run: "deployments describe $deployment",
    says: ["Bidirectional Stream", "Revision: 2 [Latest]"],
  },
  { run: "deployments describe $deployment --extra", says: ["ACTIVE-INVOCATIONS"] },
  { run: "deployments describe dp_16lq9KEFemrppKnYdVPzpTj", code: 1, says: ["404 Not Found"] },
  { run: "services list --extra", says: ["virtual object", "workflow", "[public]"], isLoose: true },
  { run: "services describe Counter", says: ["VirtualObject", "HTTP/2.0"] },
  { run: "services describe Flow", says: ["Workflow"] },
  {
    run: "services describe Nope",
    code: 1,
    says: ["The requested service 'Nope' does not exist"],
  },
  { run: "services status", says: ["SUSPENDED", "Greeter", "Flow workflow"] },
];

const CONFIG: readonly Step[] = [
  { run: "services config view Greeter", says: ["Idempotent requests retention:  1d"] },
  {
    run: "-y services config patch Greeter --public false --idempotency-retention 2h",
    says: [/Public: +false/],
  },
  { run: "-y services config patch Greeter --journal-retention 3h", says: ["3h"] },
  {
    run: "services config view Greeter",
    says: ["Public:  false", "Idempotent requests retention:  2h", "Journal retention:  3h"],
  },
  { run: "-y services config patch Greeter --public true", says: [/Public: +true/] },
  { run: "-y services config patch Flow --workflow-completion-retention 5days", says: ["5d"] },
  { run: "services config view Flow", says: ["Workflow retention time:  5d"] },
  {
    run: "-y services config patch Greeter --workflow-completion-retention 5days",
    code: 1,
    says: ["modifying retention time for service type Service is unsupported"],
  },
  {
    run: "-y services config edit Greeter",
    editor: 's/^# idempotency_retention .*/idempotency_retention = "4h"/',
    says: ["4h"],
  },
  {
    run: "services config view Greeter",
    says: ["Idempotent requests retention:  4h"],
  },
];

/** Invocations in every status there is. */
const LOOK: readonly Step[] = [
  { run: "invocations list", says: ["Showing 0/0 invocations"] },
  {
    run: "invocations list --all",
    first: [
      { path: "call/Greeter/greet", input: "a", as: "greet" },
      { path: "call/Greeter/refuse", input: "no way" },
      { path: "call/Counter/k/add", input: 2 },
      { path: "call/Counter/k/label", input: "x" },
      { path: "send/Greeter/hang", as: "hang" },
      { path: "send/Counter/h/hold", as: "hold" },
      { path: "send/Counter/h/add", input: 3, as: "inbox" },
      { path: "send/Greeter/flaky", input: "b", as: "flaky" },
      { path: "send/Greeter/greet?delay=100s", input: "later", as: "later" },
      { path: "send/Flow/w/run", input: "wf", as: "flow" },
      {
        path: "send/Greeter/steps",
        input: "s",
        headers: { "idempotency-key": "mine" },
        as: "steps",
      },
    ],
    breaks: { b: true },
    says: [
      /Greeter\/steps\s+Status: +completed with success\s+Idempotency key: +mine/,
      /Flow\/w\/run\s+Status: +suspended/,
      /Greeter\/greet\s+Status: +scheduled/,
      /Greeter\/flaky\s+Status: +backing-off/,
      /Counter\/h\/add\s+Status: +pending/,
      /Counter\/h\/hold\s+Status: +suspended/,
      /Greeter\/hang\s+Status: +suspended/,
      "[418] no way",
      "Showing 11/11 invocations",
    ],
  },
  { run: "invocations list", says: ["Showing 6/6"] },
  { run: "invocations list --service Counter --key h", says: ["Showing 2/2", "pending"] },
  { run: "invocations list --handler flaky", says: ["Showing 1/1", "b is broken"] },
  { run: "invocations list --status suspended --status backing-off", says: ["Showing 4/4"] },
  { run: "invocations list --status scheduled --oldest-first", says: ["Showing 1/1"] },
  { run: "invocations list --completion-result failure", says: ["Showing 1/1", "[418]"] },
  {
    run: "invocations list --all --deployment $deployment --virtual-objects-only",
    says: ["Showing 3/3"],
  },
  { run: "invocations list --zombie", says: ["Showing 0/0"] },
  { run: "services status", says: [/flaky +- +- +- +- +1/] },
  { run: "services status Counter", says: ["LOCKED-BY", /QUEUE/] },
  { run: "services status Greeter", says: ["Greeter/flaky"] },
  { run: "services status Flow", says: ["Flow/w/run"] },
  { run: "invocations describe $hang", says: ["suspended", "Command: Sleep [long]"] },
  { run: "invocations describe $hold", says: ["Counter/h/hold", "suspended"] },
  { run: "invocations describe $inbox", says: ["pending"] },
  { run: "invocations describe $flaky", says: ["backing-off", "b is broken"] },
  { run: "invocations describe $later", says: ["scheduled"] },
  { run: "invocations describe $flow", says: ["Command: GetPromise"] },
  { run: "invocations describe $steps", says: ["Command: Run [first]", "Command: Output"] },
  { run: `invocations describe ${NOBODY}`, code: 1, says: ["not found"] },
  { run: "invocations describe foo", code: 1, says: [/400 Bad Request|500 Internal Server Error/] },
];

const OPERATE: readonly Step[] = [
  { run: "-y invocations pause $flaky", says: ["$flaky"] },
  { run: "invocations describe $flaky", says: ["paused"] },
  { run: "-y invocations resume $flaky", breaks: { b: false }, says: ["$flaky"] },
  { run: "invocations describe $flaky", says: ["completed with success"] },
  { run: "-y invocations pause Nope/greet", code: 1, says: ["No invocations found"] },
  { run: "-y invocations resume Greeter/hang --deployment keep", says: ["$hang"] },
  { run: "-y invocations cancel $hang", says: ["$hang"] },
  { run: "invocations describe $hang", says: ["completed with failure", "[409] Cancelled"] },
  { run: "-y invocations cancel Counter/h", says: ["$hold", "$inbox"] },
  { run: "invocations describe $hold", says: ["completed with failure"] },
  { run: "-y invocations kill $later", says: ["$later"] },
  { run: "-y invocations kill Flow/w", says: ["$flow"] },
  { run: "invocations describe $flow", says: ["completed with failure", "[409] killed"] },
  { run: "-y invocations cancel Nope", code: 1, says: ["No invocations found"] },
  { run: "-y invocations restart-as-new $steps", says: ["$steps"] },
  {
    run: "invocations list --all --service Greeter --handler steps",
    says: ["Showing 2/2", /(completed[^]*){2}/],
  },
  { run: "-y invocations restart-as-new $flow", code: 1, says: ["Restarted 0", "422"] },
  { run: "-y invocations purge $steps", says: ["$steps"] },
  { run: "-y invocations purge Greeter/steps", says: ["Greeter/steps"] },
  { run: "-y invocations purge $steps", code: 1, says: ["No invocations found"] },
  { run: "invocations list --all --limit 3", says: ["Showing 3/8"] },
];

const STATE: readonly Step[] = [
  { run: "state get Counter k", says: [/value +2/, /label +"x"/] },
  { run: "state get Counter k --plain", says: ['{"label":"x","value":2}'] },
  { run: "state get Counter k --binary", says: [/value +"Mg=="/] },
  { run: "state get Counter nope", says: [/KEY +VALUE/] },
  { run: "state get Greeter k", code: 1, says: ["Only virtual objects and workflows"] },
  {
    run: "-y state edit Counter k",
    editor: 's/"value": *2/"value": 40/;s/"label": *"x"/"label": "y"/',
    says: ["40"],
  },
  { run: "state get Counter k --plain", says: ['{"label":"y","value":40}'] },
  {
    run: `-y state patch Counter k --patch '[{"op":"replace","path":"/value","value":41}]'`,
    says: ["Successfully submitted"],
  },
  { run: "state get Counter k --plain", says: ['{"label":"y","value":41}'] },
  { run: "-y state clear Counter/k", says: ["Enqueued successfully"], isLoose: true },
  { run: "state get Counter k --plain", says: ["{}"] },
  { run: "-y state clear Counter", code: 1, says: ["No state found!"] },
];

const QUERIES: readonly Step[] = [
  {
    run: "sql 'select id, target, status, completion_result from sys_invocation order by target'",
    says: ["COMPLETION_RESULT", "8 rows."],
  },
  {
    run: "sql --json 'select target, created_at from sys_invocation order by target limit 3'",
    says: ['[{"target":"Counter/h/hold","created_at":"20'],
  },
  {
    run: "sql --jsonl 'select count(*) as c, status from sys_invocation group by status'",
    says: ['{"c":8,"status":"completed"}'],
  },
  { run: "sql 'select nope from sys_invocation'", code: 1, says: ["nope"] },
  { run: "sql selec", code: 1, says: ["400 Bad Request"] },
  { run: "sql 'show tables'", says: ["sys_invocation_status"] },
  { run: "sql 'describe state'", says: [/service_key +LargeUtf8/] },
  { run: "rules list", says: ["No rules defined"] },
  { run: "vqueues list" },
];

/** The rule book. */
const RULES: readonly Step[] = [
  { run: "-y rules set tenant --concurrency 5 --description 'one tenant'", says: ["tenant"] },
  { run: "rules list", says: [/tenant +5/] },
  { run: "-y rules set 'tenant/*' --disabled", says: ["tenant/*"] },
  { run: "-y rules set * --unlimited", says: ["*"] },
  { run: "rules list --extra", says: ["one tenant", /tenant\/\* +unlimited/i, /VERSION/] },
  { run: "-y rules set tenant --concurrency 7", says: ["version v2"] },
  { run: "-y rules set tenant --description 'described otherwise'", says: ["tenant"] },
  { run: "rules list --extra", says: [/tenant +7/, "described otherwise"] },
  { run: "-y rules disable tenant", says: ["tenant"] },
  { run: "-y rules enable 'tenant/*'", says: ["tenant/*"] },
  { run: "rules list", says: ["tenant/*"] },
  { run: "-y rules enable nope", code: 1, says: ["nope"] },
  { run: "-y rules set tenant --concurrency 0", code: 2, says: ["--concurrency"] },
  { run: "-y rules set a/b/c/d --concurrency 1", code: 1, says: ["a/b/c/d"] },
  { run: "-y rules delete 'tenant/*'", says: ["tenant/*"] },
  { run: "-y rules delete tenant", says: ["tenant"] },
  { run: "-y rules delete *", says: ["*"] },
  { run: "-y rules delete nope", code: 1, says: ["nope"] },
  { run: "rules list", says: ["No rules defined"] },
];

const FAREWELL: readonly Step[] = [
  { run: "-y deployments register $endpoint/again", says: [/Greeter +3/] },
  { run: "deployments list --extra", says: ["Drained"], isLoose: true },
  { run: "-y deployments remove $deployment", says: ["removed successfully"] },
  { run: "deployments describe $deployment", code: 1, says: ["404 Not Found"] },
  { run: "-y deployments remove $other", code: 1, says: ["Deployment is still Active"] },
  { run: "-y deployments remove $other --force", says: ["removed successfully"] },
  { run: "services list", says: ["No services were found"] },
];

/** A user's whole day, in order: each step builds upon those before. */
export const SCRIPT: readonly Step[] = [
  REGISTRY,
  CONFIG,
  LOOK,
  OPERATE,
  STATE,
  QUERIES,
  RULES,
  KAFKA,
  FAREWELL,
].flat();

/** Virtual queues and what waits in them, on a server with flow control. */
export const QUEUES_SCRIPT: readonly Step[] = [
  { run: "-y deployments register $endpoint", says: [/Greeter +1/] },
  { run: "vqueues list", says: ["No virtual queues found"] },
  { run: "-y rules set blue --concurrency 1", says: ["Created rule 'blue'"] },
  {
    run: "vqueues list",
    first: ["a", "b", "c"].map((as) => ({ path: "scope/blue/send/Greeter/hang", as })),
    says: [/Greeter +blue +- +- +false +0 +0 +3 +0 +0/],
  },
  {
    run: "vqueues describe $queue",
    says: [/Scope: +blue/, /Lock: +-/, "$a", "$b", "$c", "Showing 3/3 entries"],
    isLoose: true,
  },
  { run: "vqueues describe --newest-first --limit 1 $queue", says: ["$c", "Showing 1/3 entries"] },
  {
    run: "vqueues list",
    first: ["k", "k"].map((key) => ({ path: `scope/blue/send/Counter/${key}/hold` })),
    says: [/Counter +blue +- +Counter\/k +false +1 +0 +1 +0 +0/],
    isLoose: true,
  },
  { run: "vqueues describe nope", code: 2, says: ["bad format"] },
];
