import {
  camelCaseKeys,
  hostNetworkServiceDefinition,
  type HostNetworkSource,
  type HostNetworkStatusResponse,
  type HostNetworkStep,
} from '@wins/wins-api/contract';
import { EXIT, type Answer } from '@wins/base';
import {
  callRunningDaemon,
  type Question,
  type RunningDaemonOptions,
} from '../../client/running-daemon.js';
import { safeLines } from '../../client/safe-lines.js';

export interface TeardownOptions extends RunningDaemonOptions {
  readonly 'dry-run': boolean;
}

const QUESTION: Question = { asker: 'wins srv network' };
/** No time-out, because changes to the routing table can take a long time. */
const PATIENT: Question = { ...QUESTION, timeoutMs: Infinity };
const NOT_RELAYED: ReadonlySet<string> = new Set(['busy', 'failed', 'rejected']);
const NOT_IN_PLACE: ReadonlySet<string> = new Set(['waiting', 'conflict', 'rejected']);
const { status, plan, apply, teardown } = hostNetworkServiceDefinition;

export async function showNetwork(options: RunningDaemonOptions): Promise<Answer> {
  return statusAnswer(await callRunningDaemon(options, status, {}, QUESTION));
}

export async function planNetwork(options: RunningDaemonOptions): Promise<Answer> {
  return planned(options, false);
}

export async function applyNetwork(options: RunningDaemonOptions): Promise<Answer> {
  const answer = await callRunningDaemon(options, apply, {}, PATIENT);
  const isDone = !answer.Ports.some(({ State }) => NOT_RELAYED.has(State));
  return changed(answer, isDone);
}

export async function tearDownNetwork(options: TeardownOptions): Promise<Answer> {
  if (options['dry-run']) return planned(options, true);
  return changed(await callRunningDaemon(options, teardown, {}, PATIENT), true);
}

async function planned(options: RunningDaemonOptions, Teardown: boolean): Promise<Answer> {
  const answer = await callRunningDaemon(options, plan, { Teardown }, QUESTION);
  return { value: camelCaseKeys(answer), text: stepsText(answer.Steps) };
}

function changed(answer: HostNetworkStatusResponse, areRelayed: boolean): Answer {
  const isDone = areRelayed && answer.Problems.length === 0;
  const exitCode = isDone ? EXIT.server.ok : EXIT.server.routeNotChanged;
  return { exitCode, ...statusAnswer(answer) };
}

function statusAnswer(answer: HostNetworkStatusResponse): Answer {
  const { Routes, Ports } = answer;
  const routes = Routes.map(({ State, Kind, Destination, Detail }) => [
    State,
    Kind === '' ? 'route' : Kind,
    Destination,
    Detail,
  ]);
  const ports = Ports.map(({ State, Protocol, Listen, To, Detail }) => [
    State,
    `${Protocol} port`,
    `${Listen} to ${To}`,
    Detail,
  ]);
  const rows = [...routes, ...ports];
  return {
    value: camelCaseKeys(answer),
    text: statusText(answer),
    table: { headings: ['STATE', 'KIND', 'SUBJECT', 'DETAIL'], rows },
    names: [...Routes.map(({ Destination }) => Destination), ...Ports.map(({ Listen }) => Listen)],
  };
}

function statusText(answer: HostNetworkStatusResponse): string {
  const { On, Reason, State, Down, Routes, Orphans, Problems, Sources, Ports } = answer;
  const ports = Ports.map((port) => {
    const detail = port.Detail === '' ? `, ${port.Open} open` : `: ${port.Detail}`;
    return `  ${port.State} ${port.Protocol} ${port.Listen} to ${port.To}${detail}`;
  });
  if (!On) return safeLines([`the network of the host is not managed: ${Reason}`, ...ports]);
  const missing = Routes.filter((route) => NOT_IN_PLACE.has(route.State)).length;
  const stands =
    missing > 0 && State === 'settled' ? `${missing} of ${Routes.length} are not in place` : State;
  const head = Down ? 'it was torn down by hand: "wins srv network apply" restores it' : stands;
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
  const { Source, State, Version, AgeSeconds, Peers, SkippedCount, Skipped, Duplicates } = source;
  const age = AgeSeconds < 0 ? 'never contacted' : `last contact ${AgeSeconds} s ago`;
  return [
    `  ${Source} is ${State}: ${Peers} ${toldBy(Source)}, version ${Version === '' ? 'none' : Version}, ${age}`,
    ...(source.Problem === '' ? [] : [`    ${source.Problem}`]),
    ...(source.Limited ? ['    limited: it has more entries than the daemon accepts'] : []),
    ...(source.Doubted ? ['    most are missing in its latest snapshot: reading it again'] : []),
    ...Skipped.map(({ Id, Code }) => `    skipped ${Id === '' ? 'an element' : Id}: ${Code}`),
    ...(SkippedCount > Skipped.length ? [`    and ${SkippedCount - Skipped.length} more`] : []),
    ...Duplicates.map(({ Id, Of, Stale }) =>
      Stale
        ? `    ${Id} is stale, its host or its subnet is ${Of} now: kubectl delete node ${Id}`
        : `    ${Id} has the same address as ${Of}`,
    ),
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
