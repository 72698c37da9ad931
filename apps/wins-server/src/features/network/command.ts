import { EXIT, type Answer } from '@wins/base';
import { cannotTell } from '../../client/cannot-tell.js';
import { changeFeatures, readState } from '../../client/feature-facts.js';
import type { Question, RunningDaemonOptions } from '../../client/running-daemon.js';
import { safeLines } from '../../client/safe-lines.js';
import { factsIn } from '../../kernel/told-facts.js';
import { reportOf, type Condition, type Reported } from '../../kernel/conditions/condition.js';
import { textReport } from '../../kernel/conditions/report.js';
import { NAME as NETWORK } from '../host-network/source-conditions.js';
import { isFaulty, NAME as PORT } from '../ports/port-conditions.js';
import type { PortsFacts } from '../ports/ports-facts.js';
import type { NetworkFacts, NetworkSteps } from './network-facts.js';

export interface TeardownOptions extends RunningDaemonOptions {
  readonly 'dry-run': boolean;
}

const QUESTION: Question = { asker: 'wins srv network' };
/** If both are off, the answer is why the first is. */
const NAMES = ['network', 'ports'];

export async function showNetwork(options: RunningDaemonOptions): Promise<Answer> {
  const { features, conditions } = await readState(options, NAMES, QUESTION);
  return statusAnswer(statusIn(features), conditions);
}

export async function planNetwork(options: RunningDaemonOptions): Promise<Answer> {
  return planned(options, false);
}

export async function applyNetwork(options: RunningDaemonOptions): Promise<Answer> {
  const answer = await changed(options, false);
  return answer.value.ports.some(isFaulty)
    ? { ...answer, exitCode: EXIT.server.routeNotChanged }
    : answer;
}

export async function tearDownNetwork(options: TeardownOptions): Promise<Answer> {
  if (options['dry-run']) return planned(options, true);
  return changed(options, true);
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

async function changed(options: RunningDaemonOptions, remove: boolean) {
  const features = await changeFeatures(options, 'change', { names: NAMES, remove }, QUESTION);
  // The change is made, whatever the second answer is.
  const conditions = await readState(options, [], QUESTION).then(
    (state) => state.conditions,
    (error: unknown) => [cannotTell(NETWORK, error, 'what is not well')],
  );
  return statusAnswer(statusIn(features), conditions);
}

type NetworkStatus = NetworkFacts &
  Pick<PortsFacts, 'ports'> & { readonly on: boolean; readonly reason: string };

function statusIn(features: Awaited<ReturnType<typeof changeFeatures>>): NetworkStatus {
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

function statusAnswer(status: NetworkStatus, conditions: readonly Reported[]) {
  const { routes, ports, problems } = status;
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
    exitCode: problems.length === 0 ? EXIT.server.ok : EXIT.server.routeNotChanged,
    value: status,
    text: statusText(status, reportOf(conditions, isOfNetwork)),
    table: { headings: ['STATE', 'KIND', 'SUBJECT', 'DETAIL'], rows },
    names: [...routes.map(({ destination }) => destination), ...ports.map(({ listen }) => listen)],
  };
}

function isOfNetwork({ check }: Reported): boolean {
  return check === NETWORK || check === PORT;
}

/** Lists routes and ports; the conditions tell what is wrong. */
function statusText(status: NetworkStatus, conditions: readonly Condition[]): string {
  const { on, reason, state, routes, ports } = status;
  const lines = safeLines([
    on ? state : `the network of the host is not managed: ${reason}`,
    ...routes.map((route) => {
      const detail = route.detail === '' ? '' : `: ${route.detail}`;
      const to = route.peer === undefined ? '' : ` to ${route.peer}`;
      const code = route.code === undefined ? '' : ` (${route.code})`;
      return `  ${route.state} ${thingText(route)}${to}${detail}${code}`;
    }),
    ...ports.map((port) => {
      const detail = port.detail === '' ? `, ${port.open} open` : `: ${port.detail}`;
      return `  ${port.state} ${port.proto} ${port.listen} to ${port.to}${detail}`;
    }),
  ]);
  return conditions.length === 0 ? lines : `${lines}\n${textReport(conditions)}`;
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
