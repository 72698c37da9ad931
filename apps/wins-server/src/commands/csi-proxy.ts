import type { WinsClientError } from '@wins/wins-api';
import {
  csiProxyServiceDefinition,
  type CsiProxyStatusResponse,
  type CsiProxyStep,
} from '@wins/wins-api/contract';
import { escapeText, EXIT, type CommandSurroundings } from '@wins/wins-program';
import { DaemonCallError } from '../daemon-call-error.js';
import { askRunningDaemon, type Question, type RunningDaemonOptions } from './running-daemon.js';

/** The options of `wins srv csi-proxy apply`. */
export interface ApplyCsiProxyOptions extends RunningDaemonOptions {
  readonly 'dry-run': boolean;
}

type Ask<Answer> = Parameters<typeof askRunningDaemon<Answer>>[1];

/** `wins srv csi-proxy status`: how far csi-proxy is. */
export async function showCsiProxy(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const answer = await askCsiProxyStatus(options);
  await show({ value: answer, text: statusText(answer) });
  return EXIT.server.ok;
}

/** Asks how far csi-proxy is. */
export function askCsiProxyStatus(
  options: RunningDaemonOptions,
  more: Pick<Question, 'asker' | 'timeoutMs' | 'nextStep'> = {},
): Promise<CsiProxyStatusResponse> {
  const ask: Ask<CsiProxyStatusResponse> = (client, signal) =>
    client.call(csiProxyServiceDefinition.status, {}, { signal });
  return askAbout(options, ask, more);
}

/** `wins srv csi-proxy apply`: has the running daemon see to csi-proxy now, or say what it would do. Ends as `wins up` does. */
export async function applyCsiProxy(
  options: ApplyCsiProxyOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const request = { DryRun: options['dry-run'] };
  const answer = await askAbout(
    options,
    (client, signal) => client.call(csiProxyServiceDefinition.apply, request, { signal }),
    { timeoutMs: Infinity },
  );
  const { Steps, Applied, Status } = answer;
  const status = Status === undefined ? '' : statusText(Status);
  await show({ value: answer, text: Applied ? status : stepsText(Steps) });
  return Applied ? exitCodeFor(Status) : EXIT.upgrade.ok;
}

function exitCodeFor(status: CsiProxyStatusResponse | undefined): number {
  if (status?.State !== 'failed') return EXIT.upgrade.ok;
  if (status.Code === 'notServing') return EXIT.upgrade.rolledBack;
  const isRefused = status.Code === 'digestMismatch' || status.Code === 'archiveRefused';
  return isRefused ? EXIT.upgrade.refused : EXIT.upgrade.failed;
}

function askAbout<Answer>(
  options: RunningDaemonOptions,
  ask: Ask<Answer>,
  more: Pick<Question, 'asker' | 'timeoutMs' | 'nextStep'> = {},
): Promise<Answer> {
  return askRunningDaemon(options, ask, { asker: 'wins srv csi-proxy', answered, ...more });
}

function answered(error: WinsClientError): DaemonCallError | undefined {
  if (error.code !== 'failedPrecondition') return undefined;
  const exitCode = error.reason === 'csiProxyOff' ? EXIT.server.unavailable : EXIT.upgrade.failed;
  return new DaemonCallError(error.details, exitCode, { cause: error });
}

function statusText(status: CsiProxyStatusResponse): string {
  if (!status.On) return lines([`csi-proxy is not kept: ${status.Reason}`]);
  const { State, Detail, Code, RetryAt, Failures, Version, SHA256, Address, Arguments } = status;
  return lines([
    `${State}: ${Detail}`,
    ...(Code === '' ? [] : [`  ${Code}, ${Failures} in succession, next try ${RetryAt}`]),
    ...(Version === '' ? [] : [`  wanted: ${Version} from ${Address}`]),
    ...(SHA256 === '' ? [] : [`  digest: ${SHA256}`]),
    ...(Arguments.length === 0 ? [] : [`  arguments: ${Arguments.join(' ')}`]),
  ]);
}

function stepsText(steps: readonly CsiProxyStep[]): string {
  return lines([
    ...steps.map(({ Act, Reason, Program }) => {
      const program = Program === '' ? '' : ` to ${Program}`;
      return `${Act}${program}: ${Reason}`;
    }),
    'nothing was done',
  ]);
}

/** Lines of a text, with nothing in them that would steer a terminal. */
function lines(texts: readonly string[]): string {
  return texts.map((text) => `${escapeText(text)}\n`).join('');
}
