import { moveOver } from '../journal/durable-files.js';
import { passHealthGate } from './health-gate.js';
import { PHASE_OF, type UpgradeStep } from '../plan/plan-upgrade.js';
import { runProgram } from './program-identity.js';
import { serviceOption } from '../plan/service-args.js';
import type { UpgradeContext } from './upgrade-context.js';
import { UpgradeError } from '../upgrade-error.js';
import type { UpgradeJournal, UpgradeRecord } from '../journal/upgrade-journal.js';
import type { UpgradePlaces } from '../journal/upgrade-places.js';

const CHECK_CONFIG = ['srv', 'config', 'check', '--lenient'];
const LONGEST_COMPLAINT = 2000;

/** An upgrade that is under way: what it works with, where, and what the journal says of it. */
export interface UpgradeRun {
  readonly context: UpgradeContext;
  readonly places: UpgradePlaces;
  readonly journal: UpgradeJournal;
  /** What the journal on disk says. */
  record: UpgradeRecord;
}

/** Takes one step, after the journal says so. */
export async function takeStep(
  run: UpgradeRun,
  step: UpgradeStep,
  temporary: string,
): Promise<void> {
  const { context, places, journal } = run;
  const { service, effects, log } = context;
  const canGoBack = run.record.from !== undefined && run.record.oldCommand !== undefined;
  const phase = PHASE_OF[step];
  const inInstall = !canGoBack && phase !== 'staging';
  run.record = await journal.move(run.record, inInstall ? 'installing' : phase, {
    disturbed: phase !== 'staging',
  });
  log.write('step', { step });
  const { staged, newCommand, oldCommand } = run.record;
  switch (step) {
    case 'stage':
      return moveOver(effects, 'staged program', temporary, staged);
    case 'checkConfig':
      return checkConfig(context, run.record);
    case 'stop':
      return service.stop(context.waitMs);
    case 'lend':
      return service.setCommand({ imagePath: staged, args: newCommand.args });
    case 'start':
      return service.start();
    case 'reclaim':
      return oldCommand && service.setCommand(oldCommand);
    case 'prove':
      return proveNew(run);
    case 'replace':
      return moveOver(effects, 'new program', staged, places.target);
    case 'register':
      return service.setCommand(newCommand);
  }
}

/** Waits until the new daemon serves. */
export function proveNew({ context, record }: UpgradeRun, ownService = true): Promise<void> {
  return passHealthGate({
    probe: context.probe,
    service: ownService ? context.service : undefined,
    pipe: record.pipe,
    wanted: record.to,
    limitMs: context.waitMs,
    healthRequired: true,
  });
}

/**
 * Lets the new program judge the config as its daemon will: what it refuses would be a service that ends at once.
 */
async function checkConfig(context: UpgradeContext, record: UpgradeRecord): Promise<void> {
  const file = serviceOption(record.newCommand.args, 'config');
  const args = [...CHECK_CONFIG, ...(file === undefined ? [] : ['--config', file])];
  const { code, stderr } = await runProgram(record.staged, args, context.runMs);
  if (code === 0) return;
  throw new UpgradeError(
    'programFailed',
    `the new program does not accept the config: it ended with ${code ?? 'a signal'} and said ${JSON.stringify(stderr.slice(0, LONGEST_COMPLAINT))}`,
  );
}
