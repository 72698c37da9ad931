import { EXIT, type Answer } from '@wins/base';
import { changeFeatures, readFacts } from '../../client/feature-facts.js';
import type { Question, RunningDaemonOptions } from '../../client/running-daemon.js';
import { safeLines } from '../../client/safe-lines.js';
import { factsIn } from '../../kernel/told-facts.js';
import { isFaulty } from '../ports/port-conditions.js';
import type { PortsFacts } from '../ports/ports-facts.js';
import type { SourceFacts } from '../host-network/source-facts.js';
import { isMissing } from './network-conditions.js';
import type { NetworkFacts, NetworkSteps } from './network-facts.js';

export interface TeardownOptions extends RunningDaemonOptions {
  readonly 'dry-run': boolean;
}

const QUESTION: Question = { asker: 'wins srv network' };
/** If both are off, the answer is why the first is. */
const NAMES = ['network', 'ports'];

export async function showNetwork(options: RunningDaemonOptions): Promise<Answer> {
  return statusAnswer(statusIn(await readFacts(options, NAMES, QUESTION)));
}

export async function planNetwork(options: RunningDaemonOptions): Promise<Answer> {
  return planned(options, false);
}

export async function applyNetwork(options: RunningDaemonOptions): Promise<Answer> {
  const status = await changed(options, false);
  const areRelayed = !status.ports.some(isFaulty);
  return statusAnswer(status, areRelayed);
}

export async function tearDownNetwork(options: TeardownOptions): Promise<Answer> {
  if (options['dry-run']) return planned(options, true);
  return statusAnswer(await changed(options, true));
}

async function planned(options: RunningDaemonOptions, remove: boolean): Promise<Answer> {
  const request = { names: ['network'], remove };
  const answer = await changeFeatures(options, 'plan', request, QUESTION);
  const value = factsIn<NetworkSteps>(answer, 'network');
  const steps = value.on ? value.steps : [];
  const rows = steps.map((step) =>
    'route' in step
      ? [step.op, 'route', step.route.destination, step.reason]
      : [step.op, step.item.kind, step.item.key, step.reason],
  );
  return {
    value,
    text: stepsText(steps),
    table: { headings: ['CHANGE', 'KIND', 'SUBJECT', 'REASON'], rows },
    names: rows.map(([, , subject = '']) => subject),
  };
}

async function changed(options: RunningDaemonOptions, remove: boolean): Promise<NetworkStatus> {
  return statusIn(await changeFeatures(options, 'change', { names: NAMES, remove }, QUESTION));
}

type NetworkStatus = NetworkFacts &
  Pick<PortsFacts, 'ports'> & { readonly on: boolean; readonly reason: string };

function statusIn(features: Awaited<ReturnType<typeof readFacts>>): NetworkStatus {
  const network = factsIn<NetworkFacts>(features, 'network');
  const ports = factsIn<PortsFacts>(features, 'ports');
  const known = network.on ? { reason: '', ...network } : { ...NOTHING, ...network };
  return {
    ...known,
    sources: [...known.sources, ...(ports.on ? ports.sources : [])],
    ports: ports.on ? ports.ports : [],
  };
}

const NOTHING: NetworkFacts = {
  state: 'settled',
  down: false,
  routes: [],
  orphans: [],
  problems: [],
  sources: [],
};

function statusAnswer(status: NetworkStatus, areRelayed = true): Answer {
  const { routes, ports, problems } = status;
  const isDone = areRelayed && problems.length === 0;
  const rows = [
    ...routes.map(({ state, kind, destination, detail }) => [state, kind, destination, detail]),
    ...ports.map(({ state, proto, listen, to, detail }) => [
      state,
      `${proto} port`,
      `${listen} to ${to}`,
      detail,
    ]),
  ];
  return {
    exitCode: isDone ? EXIT.server.ok : EXIT.server.routeNotChanged,
    value: status,
    text: statusText(status),
    table: { headings: ['STATE', 'KIND', 'SUBJECT', 'DETAIL'], rows },
    names: [...routes.map(({ destination }) => destination), ...ports.map(({ listen }) => listen)],
  };
}

function statusText(status: NetworkStatus): string {
  const { on, reason, state, down, routes, orphans, problems, sources } = status;
  const ports = status.ports.map((port) => {
    const detail = port.detail === '' ? `, ${port.open} open` : `: ${port.detail}`;
    return `  ${port.state} ${port.proto} ${port.listen} to ${port.to}${detail}`;
  });
  if (!on) return safeLines([`the network of the host is not managed: ${reason}`, ...ports]);
  const missing = routes.filter(isMissing).length;
  const stands =
    missing > 0 && state === 'settled' ? `${missing} of ${routes.length} are not in place` : state;
  const head = down ? 'it was torn down by hand: "wins srv network apply" restores it' : stands;
  return safeLines([
    head,
    ...routes.map((route) => {
      const detail = route.detail === '' ? '' : `: ${route.detail}`;
      const to = route.peer === undefined ? '' : ` to ${route.peer}`;
      const code = route.code === undefined ? '' : ` (${route.code})`;
      return `  ${route.state} ${thingText(route)}${to}${detail}${code}`;
    }),
    ...ports,
    ...orphans.map((destination) => `  ${destination} has no known owner and is left alone`),
    ...problems.map((found) => `  failed: ${found}`),
    ...sources.flatMap(sourceLines),
  ]);
}

function sourceLines(one: SourceFacts): readonly string[] {
  const { source, state, ageMs, count, version, problem, skipped, skippedCount } = one;
  const age =
    ageMs === undefined ? 'never contacted' : `last contact ${Math.floor(ageMs / 1000)} s ago`;
  const what = source === 'containers' ? 'published ports' : 'other hosts';
  return [
    `  ${source} is ${state}: ${count} ${what}, version ${version === '' ? 'none' : version}, ${age}`,
    ...(problem === '' ? [] : [`    ${problem}`]),
    ...(one.isLimited ? ['    limited: it has more entries than the daemon accepts'] : []),
    ...(one.isDoubted ? ['    most are missing in its latest snapshot: reading it again'] : []),
    ...skipped.map(({ id, code }) => `    skipped ${id === '' ? 'an element' : id}: ${code}`),
    ...(skippedCount > skipped.length ? [`    and ${skippedCount - skipped.length} more`] : []),
    ...(one.duplicates ?? []).map(({ id, of, isStale }) =>
      isStale
        ? `    ${id} is stale, its host or its subnet is ${of} now: kubectl delete node ${id}`
        : `    ${id} has the same address as ${of}`,
    ),
  ];
}

function stepsText(steps: NetworkSteps['steps']): string {
  return safeLines([
    ...steps.map((step) => {
      const thing =
        'route' in step
          ? thingText({ kind: 'route', ...step.route })
          : `${step.item.kind} ${step.item.key}`;
      return `${step.op} ${thing}: ${step.reason}`;
    }),
    steps.length === 0 ? 'nothing to do' : 'nothing was done',
  ]);
}

type Thing = Pick<NetworkFacts['routes'][number], 'kind' | 'destination' | 'gateway' | 'interface'>;

function thingText({ kind, destination, gateway, interface: at }: Thing): string {
  const via = gateway === '' ? '' : ` via ${gateway}`;
  return `${kind === 'route' ? '' : `${kind} `}${destination}${via}${at === '' ? '' : ` on ${at}`}`;
}
