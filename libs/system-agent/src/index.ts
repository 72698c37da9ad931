/**
 * Applies the plan of a node: files, one-time and periodic instructions, and probes. Reads the plan from one Secret of a
 * management cluster or from a folder, and writes the results back.
 * @packageDocumentation
 */
export type { AgentAction, AgentEvent, SourceState } from './agent-event.js';
export { AgentError, type AgentErrorCode, type AgentErrorDetails } from './agent-error.js';
export { createApplier } from './apply/create-applier.js';
export type { ApplierOptions } from './apply/execute.js';
export type {
  Applier,
  Outputs,
  Pass,
  FailedInstruction,
  PassResult,
  PassState,
  PeriodicStatus,
  ProbeStatus,
} from './apply/pass.js';
export { posixPlanFiles } from './apply/plan-files.js';
export { createSystemAgent } from './create-system-agent.js';
export { programRunner, type CommandTrees } from './program-runner.js';
export { parsePlan, type ParsedPlan } from './plan/parse-plan.js';
export {
  connectingStore,
  type ConnectingStoreOptions,
  readConnectionInfo,
} from './kubernetes/connecting-store.js';
export {
  nodeReader,
  type ApiNodeReader,
  type NodeAccess,
  type NodeReaderOptions,
} from './kubernetes/node-reader.js';
export { judgeKubeconfigFile, readKubeconfig } from './kubernetes/read-kubeconfig.js';
export type { SecretStoreOptions } from './kubernetes/api-connection.js';
export type { ChangeType, FollowListener } from './kubernetes/object-follower.js';
export { secretStore, type ApiSecretStore } from './kubernetes/secret-store.js';
export {
  checkImage,
  checkRegistries,
  type AskedRegistry,
  type CheckOptions,
  type ImageCheck,
  type RegistriesCheck,
} from './images/check-registries.js';
export type { ImageLimits } from './images/checked-bytes.js';
export { imageStore } from './images/image-store.js';
export type { ImageStoreOptions } from './images/store-options.js';
export type { ProviderRun } from './images/provider/credential-providers.js';
export type { CredentialProviderPaths } from './images/provider/provider-config.js';
export { parseReference, type Reference } from './images/reference.js';
export { registriesFiles } from './images/registry/registries-file.js';
export { entryFault, type FileSystemOs } from './images/unpack/entry-path.js';
export { readTar, type TarEntry } from './images/unpack/read-tar.js';
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
  ImageStore,
  PendingPlanFile,
  PlanFileRights,
  PlanFiles,
  ProgramCommand,
  ProgramRunner,
  Secret,
  SecretStore,
  StartTimer,
  WatchState,
} from './ports.js';
export type {
  AgentOptions,
  AgentStatus,
  AppliedPlan,
  PlanStatus,
  SystemAgent,
} from './system-agent.js';
export type { ConnectionInfo } from '@wins/net';
