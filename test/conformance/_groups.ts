import { callPromises } from "./_promises_call.ts";
import { flowPromises } from "./_promises_flow.ts";
import { httpPromises } from "./_promises_http.ts";
import {
  changePromises,
  introspectionPromises,
  metricsPromises,
} from "./_promises_introspection.ts";
import { kafkaPromises, kafkaRestartPromises } from "./_promises_kafka.ts";
import { limitPromises } from "./_promises_limits.ts";
import { objectPromises } from "./_promises_object.ts";
import { cancelPromises, killPromises, pausePromises } from "./_promises_operate.ts";
import { processPromises } from "./_promises_process.ts";
import { registerPromises } from "./_promises_register.ts";
import { restartPromises } from "./_promises_restart.ts";
import { lostEndpointPromises, retryPromises } from "./_promises_retry.ts";
import { attachPromises, delayPromises, sendPromises } from "./_promises_send.ts";
import { stepPromises } from "./_promises_step.ts";
import { updatePromises } from "./_promises_update.ts";
import {
  awakeablePromises,
  signalPromises,
  sleepPromises,
  workflowPromises,
} from "./_promises_wait.ts";
import type { Promises } from "./_world.ts";

/** A row of the support table, or a part of one: several groups may have the same name. */
export interface Group {
  readonly name: string;
  readonly promises: Promises;
  /** The server or the endpoint is stopped: nobody else may use them meanwhile. */
  readonly isAlone?: true;
  /** It has nothing to do with how endpoints are spoken to: tried over one transport. */
  readonly isOnce?: true;
  /**
   * By environment name without prefix: it is tried at a server of its own with these, over one
   * transport. Absent: at the server of the column.
   */
  readonly settings?: Readonly<Record<string, string>>;
}

const FLOW_CONTROL = {
  EXPERIMENTAL_ENABLE_VQUEUES: "true",
  EXPERIMENTAL_ENABLE_SCOPED_VIRTUAL_OBJECTS: "true",
};

/** All that the server promises, in the order of the support table. */
export const GROUPS: readonly Group[] = [
  { name: "register", promises: registerPromises },
  { name: "register", promises: updatePromises, isAlone: true },
  { name: "call", promises: callPromises },
  { name: "send", promises: sendPromises },
  { name: "delay", promises: delayPromises },
  { name: "attach, idempotency", promises: attachPromises },
  { name: "objects", promises: objectPromises },
  { name: "workflow, promise", promises: workflowPromises },
  { name: "awakeable", promises: awakeablePromises },
  { name: "signal", promises: signalPromises },
  { name: "steps", promises: stepPromises },
  { name: "sleep", promises: sleepPromises },
  { name: "retry", promises: retryPromises },
  { name: "retry", promises: lostEndpointPromises, isAlone: true },
  { name: "cancel", promises: cancelPromises },
  { name: "kill", promises: killPromises },
  { name: "pause, resume", promises: pausePromises },
  { name: "limits, pauses", promises: limitPromises, isAlone: true },
  {
    name: "scopes, rules, priority",
    promises: flowPromises,
    isAlone: true,
    settings: FLOW_CONTROL,
  },
  { name: "Kafka", promises: kafkaPromises, isOnce: true },
  { name: "Kafka", promises: kafkaRestartPromises, isAlone: true, isOnce: true },
  { name: "restart in the middle", promises: restartPromises, isAlone: true },
  { name: "introspection", promises: introspectionPromises, isOnce: true },
  { name: "live updates", promises: changePromises, isOnce: true },
  { name: "metrics", promises: metricsPromises, isOnce: true },
  { name: "HTTP", promises: httpPromises, isOnce: true },
  { name: "process", promises: processPromises, isAlone: true, isOnce: true },
];
