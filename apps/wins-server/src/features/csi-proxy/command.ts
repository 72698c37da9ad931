import {
  camelCaseKeys,
  csiProxyServiceDefinition,
  type CsiProxyStatusResponse,
  type CsiProxyStep,
} from '@wins/wins-api/contract';
import { EXIT, type Answer } from '@wins/base';
import {
  callRunningDaemon,
  type Question,
  type RunningDaemonOptions,
} from '../../client/running-daemon.js';
import { safeLines } from '../../client/safe-lines.js';

export interface ApplyCsiProxyOptions extends RunningDaemonOptions {
  readonly 'dry-run': boolean;
}

const QUESTION: Question = {
  asker: 'wins srv csi-proxy',
  exitCode: (code) => (code === 'failedPrecondition' ? EXIT.upgrade.failed : undefined),
};

export async function showCsiProxy(options: RunningDaemonOptions): Promise<Answer> {
  const { status } = csiProxyServiceDefinition;
  const answer = await callRunningDaemon(options, status, {}, QUESTION);
  return { value: camelCaseKeys(answer), text: statusText(answer) };
}

/** Uses the exit codes of `wins up`. */
export async function applyCsiProxy(options: ApplyCsiProxyOptions): Promise<Answer> {
  const request = { DryRun: options['dry-run'] };
  const answer = await callRunningDaemon(options, csiProxyServiceDefinition.apply, request, {
    ...QUESTION,
    timeoutMs: Infinity,
  });
  const { Steps, Applied, Status } = answer;
  const status = Status === undefined ? '' : statusText(Status);
  return {
    exitCode: Applied ? exitCodeFor(Status) : EXIT.upgrade.ok,
    value: camelCaseKeys(answer),
    text: Applied ? status : stepsText(Steps),
  };
}

function exitCodeFor(status: CsiProxyStatusResponse | undefined): number {
  if (status?.State !== 'failed') return EXIT.upgrade.ok;
  if (status.Code === 'notServing') return EXIT.upgrade.rolledBack;
  const isRefused = status.Code === 'digestMismatch' || status.Code === 'archiveRefused';
  return isRefused ? EXIT.upgrade.refused : EXIT.upgrade.failed;
}

function statusText(status: CsiProxyStatusResponse): string {
  if (!status.On) return safeLines([`csi-proxy is not managed: ${status.Reason}`]);
  const { State, Detail, Code, RetryAt, Failures, Version, SHA256, Address, Arguments } = status;
  return safeLines([
    `${State}: ${Detail}`,
    ...(Code === '' ? [] : [`  ${Code}, ${Failures} failures in a row, next try ${RetryAt}`]),
    ...(Version === '' ? [] : [`  wanted: ${Version} from ${Address}`]),
    ...(SHA256 === '' ? [] : [`  digest: ${SHA256}`]),
    ...(Arguments.length === 0 ? [] : [`  arguments: ${Arguments.join(' ')}`]),
  ]);
}

function stepsText(steps: readonly CsiProxyStep[]): string {
  return safeLines([
    ...steps.map(({ Act, Reason, Program }) => {
      const program = Program === '' ? '' : ` to ${Program}`;
      return `${Act}${program}: ${Reason}`;
    }),
    'nothing was done',
  ]);
}
