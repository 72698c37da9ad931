/**
 * The configuration file of the daemon: parses its text to a typed value, and writes changes into the text.
 *
 * Owns the format: keys in all spellings, defaults, limits, and problem messages. Other libraries enforce the values.
 *
 * ```ts
 * const { config, warnings } = await loadConfig('/etc/rancher/wins/config');
 * for (const { message } of warnings) process.emitWarning(message);
 * console.log(config.whiteList.processPaths);
 * ```
 */
export { ConfigError, type ConfigErrorCode } from './config-error.js';
export { configJsonSchema } from './parse/config-json-schema.js';
export type {
  ConfigProblem,
  ConfigProblemCode,
  ContentProblemCode,
  FileProblemCode,
} from './problems/config-problem.js';
export { defaultConfigPath } from './default-config.js';
export { editConfig, type ConfigChanges, type EditOptions } from './edit/edit-config.js';
export { mergeConfig, type MergedConfig, type MergeOptions } from './edit/merge-config.js';
export { DEFAULT_BACKOFF } from './schema/restart-keys.js';
export type { EditItem, EditValue } from './edit/edit-text.js';
export {
  changedKeys,
  describeChanges,
  configFingerprint,
  watchConfig,
  type ConfigWatch,
  type ConfigWatchEvents,
} from './follow/config-watch.js';
export { ConfigGuard, type ConfigGuardOptions, missingKeys } from './guard/config-guard.js';
export { droppedKeys } from './guard/dropped-keys.js';
export {
  explainMigration,
  configKeys,
  findConfigKeys,
  maskedSettings,
  type ConfigKey,
} from './explain/config-keys.js';
export {
  ConfigHistory,
  historyFolder,
  type EntryKind,
  type HistoryEntry,
  type HistoryTrust,
  type LostKeys,
  type ServedConfig,
} from './history/config-history.js';
export {
  forgetDeliveries,
  forgetHistory,
  keepReplaced,
  permitDrops,
  readReplaced,
} from './history/deliveries.js';
export {
  loadConfig,
  type ConfigTrust,
  type LoadedConfig,
  type LoadOptions,
} from './load/load-config.js';
export {
  parseConfig,
  type ConfigOrigin,
  type ParsedConfig,
  type ParseOptions,
} from './parse/parse-config.js';
export { judgeValues, type JudgedValue } from './load/judge-values.js';
export type {
  AllowedPath,
  CsiProxySettings,
  DetachedRunSettings,
  HostMetadataSettings,
  HostNetworkSettings,
  HostNodesSettings,
  HostPortSettings,
  KeptProgram,
  MetricsSettings,
  SystemAgentSettings,
  TlsSettings,
  TunnelLimits,
  WinsConfig,
} from './gen/wins-config.js';
