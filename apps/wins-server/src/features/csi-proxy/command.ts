import { EXIT, type Answer } from '@wins/base';
import type { PlannedAction } from '@wins/installation';
import { factsIn, type Told } from '../../kernel/told-facts.js';
import { changeFeatures, readFacts } from '../../client/feature-facts.js';
import type { Question, RunningDaemonOptions } from '../../client/running-daemon.js';
import { safeLines } from '../../client/safe-lines.js';
import type { CsiProxyFacts } from './csi-proxy-facts.js';

export interface ApplyCsiProxyOptions extends RunningDaemonOptions {
  readonly 'dry-run': boolean;
}

const NAME = 'csi-proxy';
const QUESTION: Question = {
  asker: 'wins srv csi-proxy',
  exitCode: (code) => (code === 'failedPrecondition' ? EXIT.upgrade.failed : undefined),
};

export async function showCsiProxy(options: RunningDaemonOptions): Promise<Answer> {
  return statusAnswer(factsIn<CsiProxyFacts>(await readFacts(options, [NAME], QUESTION), NAME));
}

/** Uses the exit codes of `wins up`. */
export async function applyCsiProxy(options: ApplyCsiProxyOptions): Promise<Answer> {
  const isDry = options['dry-run'];
  const request = { names: [NAME], remove: false };
  const answer = await changeFeatures(options, isDry ? 'plan' : 'change', request, QUESTION);
  if (isDry) {
    const planned = factsIn<{ readonly steps: readonly PlannedAction[] }>(answer, NAME);
    const steps = planned.on ? planned.steps : [];
    return {
      value: planned,
      text: stepsText(steps),
      table: {
        headings: ['ACTION', 'REASON'],
        rows: steps.map(({ action, reason }) => [action, reason]),
      },
      names: steps.map(({ action }) => action),
    };
  }
  const status = factsIn<CsiProxyFacts>(answer, NAME);
  return { exitCode: exitCodeFor(status), ...statusAnswer(status) };
}

function exitCodeFor(status: Told<CsiProxyFacts>): number {
  const code = status.on ? status.failure?.code : undefined;
  if (code === undefined) return EXIT.upgrade.ok;
  if (code === 'notServing') return EXIT.upgrade.rolledBack;
  const isRefused = code === 'digestMismatch' || code === 'archiveRefused';
  return isRefused ? EXIT.upgrade.refused : EXIT.upgrade.failed;
}

function statusAnswer(status: Told<CsiProxyFacts>): Answer {
  return {
    value: status,
    text: statusText(status),
    table: {
      headings: ['STATE', 'VERSION', 'DETAIL'],
      rows: status.on ? [[status.state, status.wanted?.version ?? '', status.detail]] : [],
    },
    names: status.on && status.wanted !== undefined ? [status.wanted.version] : [],
  };
}

function statusText(status: Told<CsiProxyFacts>): string {
  if (!status.on) return safeLines([`csi-proxy is not managed: ${status.reason}`]);
  const { state, detail, failure, wanted } = status;
  const lines = [`${state}: ${detail}`];
  if (failure !== undefined)
    lines.push(
      `  ${failure.code}, ${failure.failures} failures in a row, next try ${failure.retryAt}`,
    );
  if (wanted !== undefined) {
    lines.push(`  wanted: ${wanted.version} from ${wanted.address}`);
    if (wanted.sha256 !== undefined) lines.push(`  digest: ${wanted.sha256}`);
    if (wanted.arguments.length > 0) lines.push(`  arguments: ${wanted.arguments.join(' ')}`);
  }
  return safeLines(lines);
}

function stepsText(steps: readonly PlannedAction[]): string {
  const lines = steps.map(({ action, reason }) => `${action}: ${reason}`);
  return safeLines([...lines, 'nothing was done']);
}
