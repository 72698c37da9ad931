import type { AuditTrail } from './audit/audit-trail.js';
import {
  changedKeys,
  describeChanges,
  historyFolder,
  type ConfigProblemCode,
  type LoadedConfig,
} from '@wins/config';
import { COMMIT, VERSION } from '@wins/base';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from './log/logger.js';
import type { DaemonEvents } from './daemon-events.js';
import type { FeatureSet } from './feature-set.js';
import type { ConfigChange, DaemonConfig, StartedConfig } from './feature.js';

const READ_AT_START = ['listen', 'pipeAccess', 'audit'] as const;

export interface ConfigParts {
  readonly start: StartedConfig;
  readonly logger: Logger;
  readonly events: DaemonEvents;
  readonly audit: Pick<AuditTrail, 'note'>;
  readonly features: () => FeatureSet;
  /** Receives each config before the features do. */
  readonly onConfig: (next: LoadedConfig) => void;
}

export class ConfigInForce implements DaemonConfig {
  readonly start: StartedConfig;
  readonly #parts: ConfigParts;
  #inForce: LoadedConfig;
  #readAtMs = performance.now();

  constructor(parts: ConfigParts) {
    this.#parts = parts;
    this.start = parts.start;
    this.#inForce = this.start.loaded;
    reportWarnings(this.start.loaded, parts.logger);
  }

  inForce(): LoadedConfig {
    return this.#inForce;
  }

  ageMs(): number {
    return performance.now() - this.#readAtMs;
  }

  recordStart(): void {
    const { logger, events, audit } = this.#parts;
    const { refused, loaded } = this.start;
    const { path: file, sha256 } = loaded;
    const build = { version: VERSION, commit: COMMIT };
    audit.note('started', { ...build, config: file, pid: process.pid });
    // A daemon has events before it is said to have started, such as those of kept programs.
    const ageMs = Math.round(process.uptime() * 1000);
    const facts = { ...build, pid: process.pid, ageMs };
    events.publish({ type: 'kept', event: 'started', facts, isUrgent: true });
    if (refused === undefined) return;
    const fields = { err: refused, config: file, keptIn: historyFolder(file), sha256 };
    logger.error(fields, 'config rejected; the daemon starts with the previous config');
    events.publish({ type: 'configReloaded', result: 'lastGood', changed: [] });
    audit.note('lastGoodConfig', { config: file, sha256 });
  }

  become(next: LoadedConfig): ConfigChange {
    const { logger, events, audit, onConfig } = this.#parts;
    const features = this.#parts.features();
    onConfig(next);
    features.apply(next, 'observes');
    reportWarnings(next, logger);
    features.apply(next, 'serves');
    const changed = changedKeys(next, this.#inForce);
    const changes = describeChanges(changed, next.config, this.#inForce.config);
    const needRestart = this.needRestart(next);
    this.#inForce = next;
    this.#readAtMs = performance.now();
    const result = changed.length === 0 ? 'unchanged' : 'applied';
    events.publish({ type: 'configReloaded', result, changed });
    if (changed.length === 0) {
      logger.info({ needRestart }, 'config read again: nothing changed');
    } else {
      logger.info({ changed, changes, needRestart }, 'config changed');
      const { whiteList, routes } = next.config;
      const processPaths = whiteList.processPaths.map(({ path }) => path);
      const { proxyPorts, proxyUdpPorts } = whiteList;
      const granted = { processPaths, proxyPorts, proxyUdpPorts, routes: routes.allow };
      audit.note('configChanged', { changed, needRestart, ...granted });
    }
    features.apply(next, 'works');
    return { changed, changes, needRestart };
  }

  needRestart(next: LoadedConfig): readonly string[] {
    const keys = new Set([...READ_AT_START, ...this.#parts.features().readAtStart]);
    return [...keys].filter(
      (key) => !isDeepStrictEqual(next.config[key], this.start.loaded.config[key]),
    );
  }
}

/** Log message for each warning code. The default message is `config`. */
const HEADLINES: Readonly<Partial<Record<ConfigProblemCode, string>>> = {
  doubtful: 'this entry is risky',
  noEffect: 'this part of the config has no effect',
  wrongValue: 'this entry can never match',
};

function reportWarnings({ config, warnings }: LoadedConfig, logger: Logger): void {
  for (const { code, message, file, line, keyPath, nextStep } of warnings) {
    if (code === 'noWhiteList') continue;
    const facts = { problem: message, code, file, line, key: keyPath, nextStep };
    logger.warn(facts, HEADLINES[code] ?? 'config');
  }
  if (config.whiteList.processPaths.length === 0)
    logger.warn({ key: 'white_list.processPaths' }, 'no program may run: the whitelist is empty');
  if (config.whiteList.proxyPorts.length + config.whiteList.proxyUdpPorts.length === 0)
    logger.info({ key: 'white_list.proxyPorts' }, 'no port may be reached: the whitelist is empty');
}
