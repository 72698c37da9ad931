import { isNetError } from '@wins/net';
import { describeStep, InstallError, type InstallErrorCode, type Step } from '@wins/installation';
import type { RancherErrorCode } from '@wins/rancher-client';
import { UpgradeError } from '@wins/service-upgrade';
import { EXIT, messageOf, type CommandSurroundings } from '@wins/base';
import { complain, isForPeople, onSignals, tell, tickOff } from '../console.js';
import type { NodeOutcome, NodeTask } from './node-task.js';

const { ok, rolledBack, usage, refused, failed, busy } = EXIT.upgrade;
const EXIT_OF: Readonly<Record<NodeOutcome['outcome'], number>> = {
  adopted: ok,
  installed: ok,
  left: ok,
  nothing: ok,
  planned: ok,
  uninstalled: ok,
  failed,
  refused,
  rolledBack,
};
const EXIT_OF_INSTALL: Readonly<Partial<Record<InstallErrorCode, number>>> = {
  usage,
  refused,
  busy,
};
/** Codes of failures that a retry would not fix. */
const REFUSED: ReadonlySet<string> = new Set<RancherErrorCode>([
  ...([
    'untrusted',
    'checksumMismatch',
    'proofFailed',
    'strictWithoutCa',
    'invalidRequest',
  ] as const),
  ...(['redirectRefused', 'digestMismatch', 'unknownAuthority', 'otherHost'] as const),
]);

export interface NodeOptions {
  readonly 'dry-run': boolean;
  readonly wait?: number | undefined;
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
  readonly debug?: boolean | undefined;
}

export async function reportNode(
  options: NodeOptions,
  { show }: CommandSurroundings,
  task: (task: NodeTask) => Promise<NodeOutcome>,
): Promise<number> {
  const stop = new AbortController();
  let exitCode: number;
  let outcome: NodeOutcome;
  try {
    // A signal starts a rollback; further signals have no effect.
    using _signals = onSignals((signal) => stop.abort(new Error(`${signal} was received`)));
    const isDryRun = options['dry-run'];
    const isTicked = isForPeople(options) && options.quiet !== true;
    const onStep = isTicked ? (step: Step) => tickOff(describeStep(step)) : undefined;
    outcome = await task({ isDryRun, proofs: [], signal: stop.signal, onStep });
    exitCode = EXIT_OF[outcome.outcome];
  } catch (error) {
    exitCode = exitCodeOf(error);
    const isRefusal = exitCode === refused || exitCode === usage || exitCode === busy;
    outcome = { outcome: isRefusal ? 'refused' : 'failed', reason: messageOf(error) };
    if (options.debug === true && error instanceof Error) complain(error.stack ?? '');
  }
  const { output, quiet } = options;
  const answer = { value: outcome, names: [outcome.outcome], text: textOf(outcome) };
  return tell({ show, output, quiet: quiet === true && exitCode === ok }, exitCode, answer);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof InstallError) return EXIT_OF_INSTALL[error.code] ?? failed;
  if (isNetError(error)) return REFUSED.has(error.code) ? refused : failed;
  if (!(error instanceof UpgradeError)) return failed;
  return error.code === 'refused' ? refused : error.code === 'busy' ? busy : failed;
}

function textOf(told: NodeOutcome): string {
  const { outcome, reason, steps = [], kept = [], recovered, pending } = told;
  const before = recovered === undefined ? [] : [`an interrupted installation was ${recovered}`];
  if (pending !== undefined) {
    before.push(`an interrupted installation will first be ${pending.outcome}:`);
    before.push(...pending.steps.map((step) => `- ${step}`));
  }
  const what = outcome === 'planned' ? steps : [`wins: ${outcome}: ${reason}`];
  return [...before, ...what, ...kept.map((each) => `stays: ${each}`)].join('\n');
}
