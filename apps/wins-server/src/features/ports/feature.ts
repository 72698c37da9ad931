import { messageOf, parseListenAddress, Serial, type ClientIdentity } from '@wins/base';
import type { HostMetadataSettings, HostPortSettings } from '@wins/config';
import type { DesiredPort, DesiredSubnet, Source, SourceStatus } from '@wins/host-network';
import {
  PortRelays,
  publishedPorts,
  type PortRelayStatus,
  type PortRelaysOptions,
  type WantedPort,
} from '@wins/tcp-tunnel';
import { backoffMs, Reconciler } from '@wins/time';
import { networkInterfaces } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { repeatLog } from '../../kernel/admission/repeat-counter.js';
import type { ClientScheduler } from '../../kernel/admission/client-scheduler.js';
import type { Shares } from '../../kernel/admission/shares.js';
import { featureMetrics, type Feature, type RunningFeature } from '../../kernel/feature.js';
import { APPLY, CHANGE, REMOVE } from '../host-network/change-action.js';
import { ownSubnet } from '../host-network/own-subnet.js';
import { firstOf, sourceConditions } from '../host-network/source-conditions.js';
import { counter, gauge } from '../../kernel/metrics.js';
import { portConditions } from './port-conditions.js';
import { sourceFacts } from '../host-network/source-facts.js';
import type { PortsFacts } from './ports-facts.js';

const CHANGE_EVENT = 'hostPort';
const BACKOFF = { initialMs: 1_000, maxMs: 60_000 };
const SOURCE_TEXT = 'a source of published ports';
/** Maximum number of ports in an audit record, which is one line. */
const TOLD_PORTS = 8;
/** Connections of one source address with waiting input. Each waits with some 128 KiB. Clients behind one address should not hold up each other. */
const MOST_WAITING = 64;
/** Name of the turns of relayed data in the log. */
const TURN = 'relayed port';
const STATES = ['listening', 'starting', 'busy', 'failed', 'rejected', 'down'] as const;
const PROTOCOLS = ['tcp', 'udp'] as const;
const METRICS = {
  wins_host_ports: gauge('Ports of the host that lead to containers, by state.', {
    state: STATES,
  }),
  wins_host_port_connections: gauge('Open connections and UDP flows of relayed ports.', {
    protocol: PROTOCOLS,
  }),
  wins_host_port_refusals_total: counter('Failed connections and UDP flows of relayed ports.', {
    protocol: PROTOCOLS,
  }),
};

export interface PortsSettings {
  readonly ports: readonly HostPortSettings[];
  readonly ownPorts: readonly number[];
  /** Container network of this host. Relays connect only to this network, or with `allowHost` to this host. Absent: not checked. */
  readonly own?: DesiredSubnet;
  /** Rancher's metadata service, which reports published ports. Absent: no published ports. */
  readonly containers?: HostMetadataSettings;
}

type Running = RunningFeature<PortsSettings> & {
  readonly relays: PortRelays;
  readonly sources: readonly (SourceStatus<DesiredPort> & { readonly source: 'containers' })[];
};

/** Other features start without waiting for this one. Relayed connections end when the daemon ends. */
export const ports: Feature<PortsSettings, Running> = {
  name: 'ports',
  stage: 'works',
  purpose: 'relay ports of the host',
  settings: ({ config }) => {
    const { ports: wanted = [], metadata } = config.hostNetwork ?? {};
    const containers = metadata?.ports === true ? metadata : undefined;
    if (wanted.length === 0 && containers === undefined)
      return { reason: 'the config has no hostNetwork.ports' };
    const metricsPort = config.metrics && parseListenAddress(config.metrics.listen)?.port;
    const own = ownSubnet(config);
    return {
      ports: wanted,
      ownPorts: metricsPort === undefined ? [] : [metricsPort],
      ...(own !== undefined && { own }),
      ...(containers !== undefined && { containers }),
    };
  },
  start: (settings, { logger, audit, events, resources, pipe }) => {
    const repeats = repeatLog(logger, 'warn', 'a connection to a relayed port did not get through');
    const relays = new PortRelays({
      ...divideAmongSources(resources.relayed, pipe.scheduler),
      maxFlows: resources.relayedFlows.row.total,
      maxSockets: resources.relayedSockets.row.total,
      onChange: (relay) => {
        const { protocol, state, detail } = relay;
        const facts = { port: textOf(relay), protocol, state, detail };
        const isWell = state === 'starting' || (state === 'listening' && detail === '');
        logger[isWell ? 'info' : 'warn'](facts, 'a relayed port of the host');
        events.publish({ type: 'kept', event: CHANGE_EVENT, facts });
      },
      onRefused: (relay, error) => {
        const facts = { port: textOf(relay), problem: messageOf(error) };
        repeats.add(`${facts.port} ${facts.problem}`, facts);
      },
    });
    let current = settings;
    let source: Source<DesiredPort> | undefined;
    let published: readonly DesiredPort[] = [];
    const put = async (requester: 'config' | 'metadata'): Promise<void> => {
      const before = relays.standings;
      const wanted: readonly WantedPort[] = [
        ...current.ports,
        ...publishedPorts(published, before),
      ];
      await audit.decided({
        ...CHANGE,
        verdict: 'allowed',
        requester,
        name: changeText(wanted),
      });
      const { ownPorts, own } = current;
      // The gateway's address belongs to this host too, even while no adapter has it.
      const addresses = [...ownAddresses(), ...(own === undefined ? [] : [own.gateway])];
      relays.want(wanted, { ownPorts, ownAddresses: addresses, subnet: own?.subnet });
      const known = new Set(
        before.map(({ proto, listen, detail }) => `${proto} ${listen} ${detail}`),
      );
      for (const { state, proto, listen, detail } of relays.standings) {
        if (state !== 'rejected' || known.has(`${proto} ${listen} ${detail}`)) continue;
        logger.warn({ port: `${proto} ${listen}`, problem: detail }, 'a port is not relayed');
        const facts = { port: `${proto} ${listen}`, protocol: proto, state, detail };
        events.publish({ type: 'kept', event: CHANGE_EVENT, facts });
      }
    };
    const follow = async ({ containers }: PortsSettings): Promise<void> => {
      await source?.close();
      [source, published] = [undefined, []];
      if (containers === undefined) return;
      const onWarning = (problem: string): void => logger.warn({ problem }, SOURCE_TEXT);
      const { followContainers } = await import('./published-ports.js');
      const followed: Source<DesiredPort> = followContainers(containers, {
        onWarning,
        onChange: () => {
          if (followed !== source) return;
          const { state, items, skippedCount: skipped, problem } = followed.status;
          const facts = { source: 'containers', state, ports: items.length, skipped, problem };
          logger[problem === '' ? 'info' : 'warn'](facts, SOURCE_TEXT);
          events.publish({ type: 'kept', event: 'hostNetworkSource', facts });
          if (isDeepStrictEqual(items, published)) return;
          published = items;
          putting.wake();
        },
      });
      source = followed;
    };
    const changes = new Serial();
    // Retries until the change is recorded, because the source does not report the same ports again.
    const putting = new Reconciler(undefined, {
      pass: () => changes.run(() => put('metadata')),
      onFailure: (error, failures) => {
        logger.warn({ problem: messageOf(error) }, SOURCE_TEXT);
        return backoffMs(BACKOFF, failures);
      },
    });
    const configure = (next: PortsSettings): Promise<void> =>
      changes.run(async () => {
        if (source === undefined || !isDeepStrictEqual(next.containers, current.containers))
          await follow(next);
        current = next;
        await put('config');
        relays.setDown(false);
      });
    return {
      relays,
      configure,
      get sources() {
        return source === undefined ? [] : [{ ...source.status, source: 'containers' as const }];
      },
      close: async () => {
        await Promise.all([putting.close(), source?.close()]);
        await changes.idle();
        await relays.close();
        repeats[Symbol.dispose]();
      },
    };
  },
  closeWithinMs: 5_000,
  conditions: ({ running }) =>
    running === undefined
      ? []
      : [...portConditions(running.relays), ...running.sources.flatMap(sourceConditions)],
  facts: ({ relays, sources }): PortsFacts => ({
    ports: relays.standings,
    sources: sources.map(sourceFacts),
  }),
  changes: {
    actions: { apply: APPLY, remove: REMOVE },
    make: ({ relays }, change) => {
      relays.setDown(change === 'remove');
      return Promise.resolve();
    },
  },
  metrics: featureMetrics(METRICS, (metrics, view) => {
    const standings = () => view.running?.relays.standings ?? [];
    metrics.read('wins_host_ports', () =>
      STATES.map((state) => [
        { state },
        standings().filter((standing) => standing.state === state).length,
      ]),
    );
    metrics.read('wins_host_port_connections', () =>
      PROTOCOLS.map((protocol) => [
        { protocol },
        standings().reduce((sum, { proto, open }) => sum + (proto === protocol ? open : 0), 0),
      ]),
    );
    metrics.read('wins_host_port_refusals_total', () =>
      PROTOCOLS.map((protocol) => [{ protocol }, view.running?.relays.refusals[protocol] ?? 0]),
    );
    return () => undefined;
  }),
};

/** Divides connections and processor time among source addresses, whatever ports they use, as among clients. */
export function divideAmongSources(
  connections: Pick<Shares, 'take' | 'row'>,
  scheduler: Pick<ClientScheduler, 'watch' | 'tasksOf'>,
): Pick<PortRelaysOptions, 'connections' | 'watch' | 'turnsOf'> {
  return {
    connections: {
      total: connections.row.total,
      take: (source) => {
        const claim = connections.take(sourceOf(source));
        return claim && { [Symbol.dispose]: () => claim.release() };
      },
    },
    watch: (readable, { remoteAddress, mayRead }) => {
      const client = sourceOf(remoteAddress);
      scheduler.watch(readable, { client, what: TURN, mayRead, mostWaiting: MOST_WAITING });
    },
    turnsOf: (source) => scheduler.tasksOf(sourceOf(source), TURN),
  };
}

function sourceOf(address: string): ClientIdentity {
  return {
    key: `address ${address}`,
    isAdministrator: false,
    isEverybody: false,
    description: { address },
    names: [],
  };
}

function textOf({ protocol, listen, to }: PortRelayStatus): string {
  return `${protocol} ${listen.host}:${listen.port} to ${to.host}:${to.port}`;
}

function changeText(wanted: readonly WantedPort[]): string {
  const texts = wanted.map(({ proto, listen, to }) => `relay ${proto} ${listen} to ${to}`);
  return firstOf(texts, TOLD_PORTS, ', ');
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address),
  );
}
