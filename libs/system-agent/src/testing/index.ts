/** Doubles and contracts for those who compose the agent or implement its ports. */
export { FakeClock } from './fake-clock.js';
export { groupRunner, type GroupRunnerOptions } from './group-runner.js';
export { MemorySecrets, type SecretCall, type SecretVersion } from './memory-secrets.js';
