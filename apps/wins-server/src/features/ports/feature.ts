import { messageOf, parseListenAddress } from '@wins/base';
import type { HostPortSettings } from '@wins/config';
import { networkInterfaces } from 'node:os';
import { tallyLog } from '../../kernel/admission/tally.js';
import type { Feature, RunningFeature } from '../../kernel/feature.js';
import { checkHostPorts } from './check-ports.js';
import { PortRelays } from './port-relays.js';
import type { PortRelay } from './port-relay.js';

const CHANGE_EVENT = 'hostPort';
/** An audit record is one line, and tells the first ports alone. */
const TOLD_PORTS = 8;
const STATES = ['listening', 'starting', 'busy', 'failed', 'rejected', 'down'] as const;
const PROTOCOLS = ['tcp', 'udp'] as const;

export interface PortsSettings {
  readonly ports: readonly HostPortSettings[];
  /** TCP ports of the daemon itself. */
  readonly ownPorts: readonly number[];
  /** The network of this host's containers, outside of which no port leads. Absent: it is not known. */
  readonly subnet?: string;
}

type Running = RunningFeature<PortsSettings> & { readonly relays: PortRelays };

/** Relays ports of the host to containers. Nothing waits for it; connections end with the daemon. */
export const ports: Feature<PortsSettings, Running> = {
  name: 'ports',
  stage: 'works',
  purpose: 'relay ports of the host',
  settings: ({ config: { hostNetwork, metrics } }) => {
    const wanted = hostNetwork?.ports ?? [];
    if (wanted.length === 0) return { reason: 'the config has no hostNetwork.ports' };
    const own = metrics && parseListenAddress(metrics.listen)?.port;
    const subnet = hostNetwork?.subnet;
    return {
      ...{ ports: wanted, ownPorts: own === undefined ? [] : [own] },
      ...(subnet !== undefined && { subnet }),
    };
  },
  start: async (settings, { logger, audit, events, resources }) => {
    const tally = tallyLog(logger, 'warn', 'a connection to a relayed port did not get through');
    const relays = new PortRelays({
      ...{ connections: resources.relayed, flows: resources.relayedFlows.row },
      onChange: (relay) => {
        const { protocol, state, detail } = relay;
        const facts = { port: textOf(relay), protocol, state, detail };
        const isWell = state === 'listening' || state === 'starting';
        logger[isWell ? 'info' : 'warn'](facts, 'a relayed port of the host');
        events.publish({ type: 'kept', event: CHANGE_EVENT, facts });
      },
      onRefused: (relay, error) => {
        const facts = { port: textOf(relay), problem: messageOf(error) };
        tally.add(`${facts.port} ${facts.problem}`, facts);
      },
    });
    const configure = async (next: PortsSettings): Promise<void> => {
      await audit.decided({
        ...{ action: 'hostNetworkChange', verdict: 'allowed', requester: 'config' },
        name: changeText(next.ports),
      });
      relays.want(next.ports, { ...next, ownAddresses: ownAddresses() });
      for (const { state, proto, listen, detail } of relays.standings) {
        if (state !== 'rejected') continue;
        logger.warn({ port: `${proto} ${listen}`, problem: detail }, 'a port is not relayed');
        const facts = { port: `${proto} ${listen}`, protocol: proto, state, detail };
        events.publish({ type: 'kept', event: CHANGE_EVENT, facts });
      }
    };
    await configure(settings);
    return {
      ...{ relays, configure },
      close: async () => {
        await relays.close();
        tally[Symbol.dispose]();
      },
    };
  },
  closeWithinMs: 5_000,
  doctor: [checkHostPorts],
  metrics: (metrics, view) => {
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
  },
};

function textOf({ protocol, listen, to }: PortRelay): string {
  return `${protocol} ${listen.host}:${listen.port} to ${to.host}:${to.port}`;
}

function changeText(wanted: readonly HostPortSettings[]): string {
  const told = wanted
    .slice(0, TOLD_PORTS)
    .map(({ proto, listen, to }) => `relay ${proto} ${listen} to ${to}`);
  const more = wanted.length - told.length;
  return `${told.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address),
  );
}
