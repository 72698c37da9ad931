import type { TunnelLimits } from '@wins/config';
import type { DaemonEvent } from '../../kernel/daemon-events.js';
import { ensurePipeFolder } from '../../kept-directory.js';
import { counted, summary } from '../../kernel/conditions/condition.js';
import {
  featureMetrics,
  type Feature,
  type FeatureView,
  type Kernel,
  type RunningFeature,
} from '../../kernel/feature.js';
import { counter, gauge, type Metrics } from '../../kernel/metrics.js';
import { tunnelChecks } from './checks.js';
import { openTunnelEndpoint, type TunnelEndpoint } from './tunnel-endpoint.js';

export interface TunnelSettings {
  readonly pipe: string;
  readonly limits: TunnelLimits;
  readonly allowedPorts: readonly number[];
  readonly allowedUdpPorts: readonly number[];
}

/** The number of connections covers both pipes but can have only one reader, so both are read here. */
const METRICS = {
  wins_connections: gauge('Open connections, also before their handshake.', {
    pipe: ['main', 'tunnel'],
  }),
  wins_tunnel_sessions: gauge('Open tunnels.'),
  wins_tunnel_sessions_total: counter('Ended tunnels, by reason.', {
    reason: ['closed', 'aborted', 'peer-closed', 'failed'],
  }),
  wins_tunnel_streams: gauge('Open TCP streams of all tunnels.'),
  wins_tunnel_flows: gauge('Open UDP flows of all tunnels.'),
  wins_tunnel_bytes_total: counter(
    'Bytes of streams and UDP flows, from the client (in) and to it (out).',
    { direction: ['in', 'out'] },
  ),
  wins_tunnel_pauses_total: counter(
    'Pauses requested from clients because a program did not read.',
  ),
  wins_tunnel_datagrams_dropped_total: counter('Datagrams dropped because the client was slow.'),
  wins_tunnel_connects_total: counter('Requested streams and UDP flows, by result.', {
    result: ['connected', 'refused', 'failed'],
  }),
  wins_tunnel_slow_streams_total: counter('Streams whose program did not answer within 15 s.'),
};

type Tunnel = TunnelEndpoint & RunningFeature<TunnelSettings>;

export const tunnel: Feature<TunnelSettings, Tunnel> = {
  ...tunnelChecks,
  name: 'tunnel',
  stage: 'serves',
  purpose: 'serve the tunnel',
  readAtStart: ['proxy', 'tunnel'],
  settings: ({ config: { proxy: pipe, tunnel: limits, whiteList } }) => ({
    pipe,
    limits,
    allowedPorts: whiteList.proxyPorts,
    allowedUdpPorts: whiteList.proxyUdpPorts,
  }),
  start: async (settings, { system, trust, pipe, resources, audit, logger, events }) => {
    ensurePipeFolder(settings.pipe, trust);
    const { pipeSecurity: security } = system;
    const { identify, scheduler } = pipe;
    const endpoint = await openTunnelEndpoint({
      ...settings,
      security,
      identify,
      scheduler,
      resources,
      audit,
      logger,
      events,
    });
    return {
      ...endpoint,
      configure: ({ allowedPorts, allowedUdpPorts }) =>
        endpoint.allowPorts(allowedPorts, allowedUdpPorts),
    };
  },
  conditions: ({ running }) => {
    const { sessions = 0, streams = 0 } = running?.figures() ?? {};
    return [
      summary('tunnels', `${counted(sessions, 'tunnel')} with ${counted(streams, 'stream')}`),
    ];
  },
  metrics: featureMetrics(METRICS, tunnelMetrics),
};

function tunnelMetrics(
  metrics: Metrics<typeof METRICS>,
  view: FeatureView<TunnelSettings, Tunnel>,
  { pipe }: Kernel,
): (event: DaemonEvent) => void {
  const figures = () => view.require().figures();
  const one = (value: number) => [[{}, value]] as const;
  metrics.read('wins_connections', () => [
    [{ pipe: 'main' }, pipe.connections.size],
    [{ pipe: 'tunnel' }, figures().connections],
  ]);
  metrics.read('wins_tunnel_sessions', () => one(figures().sessions));
  metrics.read('wins_tunnel_streams', () => one(figures().streams));
  metrics.read('wins_tunnel_flows', () => one(figures().flows));
  metrics.read('wins_tunnel_bytes_total', () => {
    const { receivedBytes, sentBytes } = figures().traffic;
    return [
      [{ direction: 'in' }, receivedBytes],
      [{ direction: 'out' }, sentBytes],
    ];
  });
  metrics.read('wins_tunnel_pauses_total', () => one(figures().traffic.pauses));
  metrics.read('wins_tunnel_datagrams_dropped_total', () =>
    one(figures().traffic.droppedDatagrams),
  );
  return (event) => {
    if (event.type === 'tunnel' && event.phase === 'ended')
      metrics.count('wins_tunnel_sessions_total', { reason: event.reason });
    else if (event.type === 'stream' && event.phase === 'slow')
      metrics.count('wins_tunnel_slow_streams_total');
    else if (event.type === 'stream' && event.phase !== 'cut')
      metrics.count('wins_tunnel_connects_total', { result: event.phase });
    else if (event.type === 'decided') {
      const { action, verdict } = event.decision;
      if (action === 'connect' && verdict === 'refused')
        metrics.count('wins_tunnel_connects_total', { result: 'refused' });
    }
  };
}
