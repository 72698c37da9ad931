import { ConfigError, ConfigGuard, watchConfig, type LoadedConfig } from '@wins/config';
import { isOnTrial } from '@wins/service-upgrade';
import { existsSync } from 'node:fs';
import { configFileOf, ConfigLoader } from '../../configuration/config-loader.js';
import type { ConfigChange, Kernel } from '../../kernel/feature.js';
import { droppedIn, howToDrop, tellLost } from './dropped-keys.js';

/** Maximum age, in milliseconds, of a change that `reload` still returns although the daemon has already loaded it by itself. */
const RECENT_MS = 60_000;

export interface FollowedConfig {
  /** Whether the file is usable and its content is in force. */
  readonly isGood: boolean;
  /**
   * Loads the file now. If the daemon has just loaded this content by itself, returns that change. @throws Error; the current config then stays in
   * force.
   */
  reload(
    allowDrop?: readonly string[],
  ): Promise<{ readonly loaded: LoadedConfig; readonly change: ConfigChange }>;
  close(): Promise<void>;
}

/** Applies each usable config, and stores it for the next start. */
export async function followConfig(kernel: Kernel, changed: () => void): Promise<FollowedConfig> {
  const { config, logger, events, audit, trust, program } = kernel;
  const { named, loaded, refused, fingerprint } = config.start;
  let isGood = refused === undefined;
  let unreported: { readonly change: ConfigChange; readonly atMs: number } | undefined;
  const judged = (isUsed: boolean): void => {
    isGood = isUsed;
    changed();
  };
  const { guard, lost } = await ConfigGuard.begin(loaded, {
    trust,
    // A daemon on trial runs from the upgrade folder. Once the daemon is proven, the upgrade moves the program out of this folder.
    isProven: () => !isOnTrial(program) || !existsSync(program),
    howToDrop,
    onFailure: (problem, err) => logger.warn({ err, config: loaded.path }, problem),
  });
  if (lost.length > 0) tellLost(lost, loaded.path, kernel);
  const loader = new ConfigLoader(kernel.features().map(({ feature }) => feature));
  const load = async (allowDrop: readonly string[]) =>
    guard.admit(await loader.load(named), allowDrop);
  const watch = watchConfig(
    configFileOf(named),
    fingerprint,
    {
      changed: (next) => {
        const change = config.become(next);
        if (change.changed.length > 0) unreported = { change, atMs: performance.now() };
        guard.served(next);
        judged(true);
        return change;
      },
      rejected: (err) => {
        logger.error({ err }, 'config rejected; the last valid one stays in force');
        judged(false);
        const dropped = droppedIn(err);
        events.publish({
          type: 'configReloaded',
          result: 'rejected',
          changed: [],
          why: reasonOf(err),
          ...(dropped.length > 0 && { dropped }),
        });
        if (dropped.length > 0) audit.note('configRefused', { dropped });
      },
    },
    () => load([]),
    refused,
  );
  if (refused === undefined) guard.served(loaded);
  return {
    get isGood() {
      return isGood;
    },
    reload: async (allowDrop = []) => {
      const reloaded = await watch.reload(() => load(allowDrop));
      guard.accept(allowDrop);
      const { change, atMs = -Infinity } = unreported ?? {};
      unreported = undefined;
      const isAnswer = reloaded.change.changed.length === 0 && performance.now() - atMs < RECENT_MS;
      return isAnswer && change !== undefined ? { ...reloaded, change } : reloaded;
    },
    close: async () => {
      watch[Symbol.dispose]();
      await guard[Symbol.asyncDispose]();
    },
  };
}

/** Returns only the code and the line of a fault, because the message may quote a secret of the file. */
function reasonOf(error: unknown): string {
  const problems = error instanceof ConfigError ? error.problems : [];
  const first = problems.find(({ severity }) => severity === 'error');
  if (first === undefined) return 'cannot be read';
  return first.line === undefined ? first.code : `${first.code} in line ${first.line}`;
}
