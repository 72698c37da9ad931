/** Test doubles, such as a fake clock and an API server, for packages that create the agent or implement an interface of `ports.ts`. */
export { groupRunner, type GroupRunnerOptions } from './group-runner.js';
export {
  answer,
  endless,
  reset,
  resetAfter,
  silent,
  slow,
  unanswered,
  upgrade,
  type ApiFault,
  type ApiRequest,
} from './api-server/api-fault.js';
export type { SecretEvent, SecretObject } from './api-server/secret-table.js';
export {
  startApiServer,
  type ApiServer,
  type ApiServerOptions,
  type FaultOptions,
  type KubeconfigOptions,
} from './api-server/start-api-server.js';
export { digestOf, dockerArchive, tarOf, type TarMember } from './image-archive.js';
export {
  IDENTITY_TOKEN,
  REGISTRY_SHAPES,
  REGISTRY_USER,
  type PlayingRegistry,
  type RegistryShape,
} from './registry-shapes.js';
export { MemorySecrets, type SecretCall, type SecretVersion } from './memory-secrets.js';
export { startForgetfulBox, type ForgetfulBox } from './forgetful-box.js';
export { SimulatedFleet } from './simulated-fleet.js';
export { SimulatedFollower } from './simulated-follower.js';
