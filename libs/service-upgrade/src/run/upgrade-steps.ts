import type { UpgradeJournal, UpgradeRecord } from '../journal/upgrade-journal.js';
import type { UpgradePaths } from '../journal/upgrade-paths.js';
import { configFileOf } from '../plan/service-args.js';
import { isSameCommand, type ServiceCommand } from '../service/service-command.js';
import type { PlannedStep, UpgradeStep } from '../journal/upgrade-phases.js';
import { UpgradeError } from '../upgrade-error.js';
import { passHealthGate } from './health-gate.js';
import { runProgram } from './run-program.js';
import type { UpgradeContext } from './upgrade-context.js';

const CHECK_CONFIG = ['srv', 'config', 'check', '--lenient'];
const LONGEST_COMPLAINT = 2000;

export interface UpgradeRun {
  readonly context: UpgradeContext;
  readonly paths: UpgradePaths;
  readonly journal: UpgradeJournal;
  /** Process that performs or recovers the upgrade. `helper` can start and stop the service. `daemon` is the service's own daemon. */
  readonly worker: 'helper' | 'daemon';
  readonly copy?: string;
  configWarnings?: string;
  record: UpgradeRecord;
}

const ACTIONS: Readonly<Record<UpgradeStep, (run: UpgradeRun) => Promise<void>>> = {
  stage: ({ context, copy, record: { staged } }) =>
    context.effects.move('staged program', copy ?? staged, staged),
  checkConfig,
  stop: ({ context }) => context.service.stop(context.waitMs),
  lend: ({ context, record: { staged, newCommand } }) =>
    context.service.setCommand({ imagePath: staged, args: newCommand.args }),
  start: ({ context }) => context.service.start(),
  reclaim: ({ context, record: { oldCommand } }) =>
    oldCommand === undefined ? Promise.resolve() : register(context, oldCommand),
  prove,
  replace: ({ context, paths, record: { staged } }) =>
    context.effects.move('new program', staged, paths.target),
  register: ({ context, record: { newCommand } }) => register(context, newCommand),
};

/** Writes the phase of a step to the journal, then takes the step. */
export async function takeStep(run: UpgradeRun, { step, phase }: PlannedStep): Promise<void> {
  const disturbed = run.record.disturbed || phase !== 'staging';
  run.record = await run.journal.move(run.record, phase, { disturbed });
  run.context.log.write('step', { step });
  await ACTIONS[step](run);
  run.context.log.write('step done', { step });
}

async function register({ service }: UpgradeContext, command: ServiceCommand): Promise<void> {
  const status = await service.query();
  if (status === undefined || !isSameCommand(status.command, command))
    await service.setCommand(command);
}

async function prove({ context, record, worker }: UpgradeRun): Promise<void> {
  const { probe, service, waitMs } = context;
  await passHealthGate({
    // The daemon need not ask whether its own service runs.
    probe,
    service: worker === 'helper' ? service : undefined,
    timeoutMs: waitMs,
    pipe: record.pipe,
    wanted: record.to,
    healthRequired: true,
  });
}

/** Lets the new program check its config, because a daemon that refuses its config ends at once. */
async function checkConfig(run: UpgradeRun): Promise<void> {
  const { context, record } = run;
  const file = configFileOf(record.newCommand.args, undefined);
  const args = [...CHECK_CONFIG, ...(file === undefined ? [] : ['--config', file])];
  const { code, stderr } = await runProgram(record.staged, args, { timeoutMs: context.runMs });
  const said = stderr.slice(0, LONGEST_COMPLAINT);
  if (code !== 0) {
    const found = `it ended with ${code ?? 'a signal'} and printed ${JSON.stringify(said)}`;
    throw new UpgradeError('programFailed', `the new program does not accept the config: ${found}`);
  }
  const warnings = said.trim();
  if (warnings === '') return;
  run.configWarnings = warnings;
  context.log.write('the new program has warnings about the config', { warnings });
}
