import {
  hostNetworkServiceDefinition,
  type HostNetworkSource,
  type HostNetworkStatusResponse,
  type HostNetworkStep,
} from '@wins/wins-api/contract';
import { EXIT, type CommandSurroundings } from '@wins/base';
import { callRunningDaemon, type Question, type RunningDaemonOptions } from './running-daemon.js';
import { safeLines } from './safe-lines.js';

export interface TeardownOptions extends RunningDaemonOptions {
  readonly 'dry-run': boolean;
}

const QUESTION: Question = { asker: 'wins srv network' };
/** No time-out, because changes of the routing table take an unknown time. */
const PATIENT: Question = { ...QUESTION, timeoutMs: Infinity };
const { status, plan, apply, teardown } = hostNetworkServiceDefinition;

export async function showNetwork(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const answer = await callRunningDaemon(options, status, {}, QUESTION);
  await show({ value: answer, text: statusText(answer) });
  return EXIT.server.ok;
}

export async function planNetwork(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const answer = await callRunningDaemon(options, plan, { Teardown: false }, QUESTION);
  await show({ value: answer, text: stepsText(answer.Steps) });
  return EXIT.server.ok;
}

export async function applyNetwork(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const answer = await callRunningDaemon(options, apply, {}, PATIENT);
  await show({ value: answer, text: statusText(answer) });
  return exitCodeFor(answer);
}

export async function tearDownNetwork(
  options: TeardownOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  if (options['dry-run']) {
    const answer = await callRunningDaemon(options, plan, { Teardown: true }, QUESTION);
    await show({ value: answer, text: stepsText(answer.Steps) });
    return EXIT.server.ok;
  }
  const answer = await callRunningDaemon(options, teardown, {}, PATIENT);
  await show({ value: answer, text: statusText(answer) });
  return exitCodeFor(answer);
}

function exitCodeFor({ Problems }: HostNetworkStatusResponse): number {
  return Problems.length === 0 ? EXIT.server.ok : EXIT.server.routeNotChanged;
}

function statusText(answer: HostNetworkStatusResponse): string {
  const { On, Reason, State, Down, Routes, Orphans, Problems, Sources, Ports } = answer;
  const ports = Ports.map((port) => {
    const detail = port.Detail === '' ? `, ${port.Open} open` : `: ${port.Detail}`;
    return `  ${port.State} ${port.Protocol} ${port.Listen} to ${port.To}${detail}`;
  });
  if (!On) return safeLines([`the network of the host is not managed: ${Reason}`, ...ports]);
  const head = Down ? 'it was torn down by hand: "wins srv network apply" restores it' : State;
  return safeLines([
    head,
    ...Routes.map((standing) => {
      const { State: state, Detail, Peer, Code } = standing;
      const detail = Detail === '' ? '' : `: ${Detail}`;
      const to = Peer === '' ? '' : ` to ${Peer}`;
      const code = Code === '' ? '' : ` (${Code})`;
      return `  ${state} ${thingText(standing)}${to}${detail}${code}`;
    }),
    ...ports,
    ...Orphans.map((destination) => `  ${destination} has no known owner and is left alone`),
    ...Problems.map((found) => `  failed: ${found}`),
    ...Sources.flatMap(sourceLines),
  ]);
}

function sourceLines(source: HostNetworkSource): readonly string[] {
  const { Source, State, Version, AgeSeconds, Peers, SkippedCount, Skipped } = source;
  const age = AgeSeconds < 0 ? 'never contacted' : `last contact ${AgeSeconds} s ago`;
  return [
    `  ${Source} is ${State}: ${Peers} ${toldBy(Source)}, version ${Version === '' ? 'none' : Version}, ${age}`,
    ...(source.Problem === '' ? [] : [`    ${source.Problem}`]),
    ...(source.Limited ? ['    limited: it has more than the daemon accepts'] : []),
    ...(source.Doubted ? ['    most are missing in its latest snapshot: reading it again'] : []),
    ...Skipped.map(({ Id, Code }) => `    skipped ${Id === '' ? 'an element' : Id}: ${Code}`),
    ...(SkippedCount > Skipped.length ? [`    and ${SkippedCount - Skipped.length} more`] : []),
  ];
}

function toldBy(source: string): string {
  return source === 'containers' ? 'published ports' : 'other hosts';
}

function stepsText(steps: readonly HostNetworkStep[]): string {
  return safeLines([
    ...steps.map((step) => `${step.Op} ${thingText(step)}: ${step.Reason}`),
    steps.length === 0 ? 'nothing to do' : 'nothing was done',
  ]);
}

type Thing = Pick<HostNetworkStep, 'Kind' | 'Destination' | 'Gateway' | 'Interface'>;

function thingText({ Kind, Destination, Gateway, Interface }: Thing): string {
  const kind = Kind === 'route' || Kind === '' ? '' : `${Kind} `;
  const via = Gateway === '' ? '' : ` via ${Gateway}`;
  return `${kind}${Destination}${via}${Interface === '' ? '' : ` on ${Interface}`}`;
}
