/**
 * A node that follows its plan: files, one-time and periodic instructions and probes, from one Secret of a management cluster or
 * from a folder, and what came of it written back.
 *
 * @packageDocumentation
 */
export type { AgentAct, AgentEvent, SourceState } from './agent-event.js';
export { AgentError, type AgentErrorCode } from './agent-error.js';
export { createApplier } from './apply/create-applier.js';
export type { ApplierOptions } from './apply/pass-context.js';
export type {
  Applier,
  Outputs,
  Pass,
  PassResult,
  PeriodicStatus,
  ProbeStatus,
} from './apply/pass.js';
export { posixPlanFiles } from './apply/plan-files.js';
export { parseUnixDate, unixDate } from './apply/unix-date.js';
export { createSystemAgent } from './create-system-agent.js';
export { parsePlan, type ParsedPlan } from './plan/parse-plan.js';
export type {
  Command,
  HttpGet,
  Instruction,
  PeriodicInstruction,
  Plan,
  PlanFile,
  Probe,
} from './plan/plan.js';
export type {
  Clock,
  ImageStore,
  PlanFileRights,
  PlanFiles,
  ProgramCommand,
  ProgramRunner,
  Secret,
  SecretStore,
  WatchState,
} from './ports.js';
export { followLocalPlans, type LocalPlansOptions } from './sources/local-plans.js';
export type {
  AgentOptions,
  AgentStatus,
  AppliedPlan,
  PlanStatus,
  SystemAgent,
} from './system-agent.js';
