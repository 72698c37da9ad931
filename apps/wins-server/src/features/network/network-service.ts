import { featureAction } from '../../kernel/audit/decision.js';
import {
  HostNetworkStatusResponse,
  type HostNetworkServiceServer,
  type HostNetworkSource,
  type HostNetworkStep,
} from '@wins/wins-api/contract';
import type { HostNetwork, HostNetworkStatus, PlannedStep, SourceStatus } from '@wins/host-network';
import type { AuditTrail } from '../../kernel/audit/audit-trail.js';
import type { PortRelays } from '../ports/port-relays.js';
import type { FeatureView } from '../../kernel/feature.js';
import {
  administratorsOnly,
  goneSignal,
  recordAction,
  type Callers,
} from '../../kernel/rpc/administrators-only.js';
import type { StartedNetwork } from './start-network.js';

const APPLY = featureAction('hostNetworkApply', 'before', 'apply the network of the host by hand');
const TEAR_DOWN = featureAction(
  'hostNetworkTeardown',
  'before',
  'tear down the network of the host',
);

export interface KeptNetwork {
  readonly kept: Pick<HostNetwork, 'status' | 'plan' | 'apply' | 'teardown'>;
  readonly sources: Pick<StartedNetwork['sources'], 'statuses'>;
}

export interface KeptPorts {
  readonly relays: Pick<PortRelays, 'standings' | 'setDown'>;
  /** Sources of published ports, except the config. */
  readonly sources: readonly NamedStatus[];
}

type NamedStatus = SourceStatus<object> & { readonly source: string };

export interface NetworkServiceParts {
  readonly ports: Pick<FeatureView<object, KeptPorts>, 'running'>;
  readonly network: Pick<FeatureView<object, KeptNetwork>, 'running' | 'reason' | 'require'>;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
  readonly audit: Pick<AuditTrail, 'decided'>;
}

export function createNetworkService(parts: NetworkServiceParts): HostNetworkServiceServer {
  const { network, ports, callers } = parts;
  const withPorts = (
    running: KeptNetwork | undefined,
    status: HostNetworkStatus | undefined,
  ): HostNetworkStatusResponse => {
    const answer =
      running === undefined || status === undefined
        ? HostNetworkStatusResponse.fromPartial({ On: false, Reason: network.reason })
        : statusMessage(running, status);
    return {
      ...answer,
      Sources: [...answer.Sources, ...(ports.running?.sources ?? []).map(sourceMessage)],
      Ports: (ports.running?.relays.standings ?? []).map((port) => ({
        ...{ Protocol: port.proto, Listen: port.listen, To: port.to, Open: port.open },
        ...{ State: port.state, Detail: port.detail },
      })),
    };
  };
  /** The caller ensures that `ports` or `network` is on. */
  const change = async (
    isDown: boolean,
    action: (kept: KeptNetwork['kept']) => Promise<HostNetworkStatus>,
  ): Promise<HostNetworkStatusResponse> => {
    ports.running?.relays.setDown(isDown);
    const { running } = network;
    return withPorts(running, running && (await action(running.kept)));
  };
  const requireOne = () => {
    if (ports.running === undefined) network.require();
  };
  const answer = administratorsOnly(callers, 'show or change the network of the host');
  return {
    status: (call, respond) =>
      answer(call, respond, () => withPorts(network.running, network.running?.kept.status)),
    plan: (call, respond) =>
      answer(call, respond, async () => {
        const { Teardown } = call.request;
        const { kept } = network.require();
        const { steps, isLimited } = await kept.plan(Teardown ? { isDown: true } : {});
        return { Steps: steps.map(stepMessage), Limited: isLimited };
      }),
    apply: (call, respond) =>
      answer(call, respond, async () => {
        requireOne();
        const gone = goneSignal(call);
        await recordAction(call, parts, APPLY);
        return change(false, (kept) => kept.apply(gone));
      }),
    teardown: (call, respond) =>
      answer(call, respond, async () => {
        requireOne();
        const gone = goneSignal(call);
        await recordAction(call, parts, TEAR_DOWN);
        return change(true, (kept) => kept.teardown(gone));
      }),
  };
}

function stepMessage(step: PlannedStep): HostNetworkStep {
  const { destination, gateway, metric, ...at } =
    'route' in step
      ? step.route
      : { destination: step.item.key, gateway: '', interface: '', metric: 0 };
  return {
    ...{ Op: step.op, Destination: destination, Gateway: gateway, Interface: at.interface },
    ...{ Metric: metric, Reason: step.reason, Kind: 'route' in step ? 'route' : step.item.kind },
  };
}

function statusMessage(
  { sources }: KeptNetwork,
  status: HostNetworkStatus,
): HostNetworkStatusResponse {
  const { kind, standings, orphans, problems, isDown } = status;
  return {
    ...{ On: true, Reason: '', State: kind, Down: isDown },
    Routes: standings.map((standing) => ({
      ...{ Destination: standing.destination, State: standing.state, Detail: standing.detail },
      ...{ Gateway: standing.gateway, Interface: standing.interface, Metric: standing.metric },
      ...{ Kind: standing.kind, Peer: standing.peer ?? '', Code: standing.code ?? '' },
    })),
    Orphans: [...orphans],
    Problems: [...problems],
    Sources: sources.statuses.map(sourceMessage),
    Ports: [],
  };
}

function sourceMessage(one: NamedStatus): HostNetworkSource {
  return {
    ...{ Source: one.source, State: one.state, Version: one.version, Problem: one.problem },
    ...{ AgeSeconds: one.ageMs === undefined ? -1 : Math.floor(one.ageMs / 1000) },
    ...{ Peers: one.items.length, Limited: one.isLimited, Doubted: one.isDoubted },
    ...{ SkippedCount: one.skippedCount },
    Skipped: one.skipped.map(({ id, code }) => ({ Id: id, Code: code })),
    Duplicates: (one.duplicates ?? []).map(({ id, of, isStale }) => ({
      Id: id,
      Of: of,
      Stale: isStale,
    })),
  };
}
