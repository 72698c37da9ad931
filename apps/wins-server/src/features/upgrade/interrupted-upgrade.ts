import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Logger } from '../../kernel/log/logger.js';
import type { ShutdownRequest } from '../../kernel/shutdown-signal.js';
import { isOnTrial, upgradeFolder } from '@wins/service-upgrade';
import { loadUpgrader } from './upgrader.js';

export interface InterruptedUpgrade {
  /** Resolves only if this daemon runs the wrong program. The daemon must then end with an error, so that the right program starts. */
  readonly restart: Promise<ShutdownRequest>;
  readonly serves: () => void;
  /** Reports that this daemon will not serve. Resolves when the rollback is done as far as possible. */
  readonly fails: (error: unknown) => Promise<void>;
}

/** Loads the recovery code only if needed. Does nothing without `service`. */
export function recoverInterruptedUpgrade(
  service: string | undefined,
  runningFile: string,
  logger: Logger,
): InterruptedUpgrade {
  const never = new Promise<never>(() => undefined);
  if (service === undefined || !mayBeInterrupted(runningFile))
    return { restart: never, serves: () => undefined, fails: () => Promise.resolve() };
  let serves: () => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const serving = new Promise<void>((...settle) => {
    [serves, reject] = settle;
  });
  const log = (line: string): void =>
    logger.info(
      { upgrade: JSON.parse(line) as unknown },
      'an interrupted upgrade is finished or undone',
    );
  const recovered = loadUpgrader()
    .recoverUpgrade({ runningFile, serving, service, log })
    .then(
      ({ restart, ...found }) => {
        logger.info(found, 'checked for an interrupted upgrade');
        return restart ? found.reason : undefined;
      },
      (err: unknown) => {
        logger.error({ err }, 'cannot finish or undo an interrupted upgrade');
        return undefined;
      },
    );
  return {
    restart: recovered.then((reason) =>
      reason === undefined ? never : { error: new Error(`another release must run: ${reason}`) },
    ),
    serves,
    fails: async (error) => {
      reject(error);
      await recovered;
    },
  };
}

function mayBeInterrupted(runningFile: string): boolean {
  const journal = path.join(upgradeFolder(runningFile), 'journal.json');
  return isOnTrial(runningFile) || existsSync(journal);
}
