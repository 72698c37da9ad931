import {
  hostNetworkServiceDefinition,
  type HostNetworkStatusResponse,
} from '@wins/wins-api/contract';
import { readFile } from 'node:fs/promises';
import type { Check, DoctorHost } from '../../kernel/doctor-host.js';
import { ok, problem, type Reported } from '../../kernel/conditions/condition.js';
import { firstOf } from '../ports/source-conditions.js';
import { networkSettings, wantsNothing } from './network-settings.js';

const NAME = 'host network';
/** Maximum number of hosts to dial. Limited, because each may take a second. */
const MOST_PROBED = 64;
const ROUTED = new Set(['applied', 'foreign']);

export interface NetworkQuestions {
  networkStatus(name: string): Promise<HostNetworkStatusResponse>;
  /** Returns the IPv4 neighbours of this host, and whether each answers; undefined without /proc/net/arp. */
  neighbours(): Promise<ReadonlyMap<string, boolean> | undefined>;
}

export function networkQuestions(host: DoctorHost): NetworkQuestions {
  const networkStatus: NetworkQuestions['networkStatus'] = (name) =>
    host.call(name, hostNetworkServiceDefinition.status, {});
  return { networkStatus, neighbours };
}

/** Dials the other hosts of the cluster. The daemon itself reports its routes. */
export const checkNetwork: Check<DoctorHost & NetworkQuestions> = {
  name: NAME,
  needsConfig: true,
  needsDaemon: true,
  look: async (host, { config }) => {
    if (wantsNothing(networkSettings(config))) return [];
    const status = await host.networkStatus(config.listen);
    return probePeers(status, config.hostNetwork?.probePort, host);
  },
};

async function probePeers(
  { Routes }: HostNetworkStatusResponse,
  port: number | undefined,
  host: Pick<DoctorHost & NetworkQuestions, 'dialAt' | 'neighbours'>,
): Promise<readonly Reported[]> {
  const routed = Routes.filter(({ Peer, State }) => Peer !== '' && ROUTED.has(State));
  // Several subnets may have one next hop, which is then one host.
  const peers = [...new Map(routed.map((route) => [route.Gateway, route])).values()];
  if (peers.length === 0) return [];
  const probed = port === undefined ? [] : peers.slice(0, MOST_PROBED);
  const dialled = await Promise.all(
    probed.map(async ({ Peer, Gateway }) => {
      const outcome = await host.dialAt(Gateway, port ?? 0);
      return outcome === 'open' ? [] : [`${Peer}: ${Gateway} port ${port}: ${outcome}`];
    }),
  );
  // Read after dialling, because dialling makes the system look for the neighbour.
  const links = await host.neighbours();
  const absent = peers
    .filter(({ Gateway }) => links?.get(Gateway) === false)
    .map(({ Peer, Gateway }) => `${Peer}: ${Gateway} does not answer on the link`);
  const wrong = [...absent, ...dialled.flat()];
  if (wrong.length > 0) {
    const advice = 'look at these hosts, their firewalls and the network';
    return [problem(NAME, 'hostUnreachable', firstOf(wrong), advice)];
  }
  const seen = peers.filter(({ Gateway }) => links?.get(Gateway) === true).length;
  const answered = port === undefined ? '' : `, ${probed.length} answered at port ${port}`;
  return [ok(NAME, `${peers.length} other hosts have a route, ${seen} are on the link${answered}`)];
}

/** Line of /proc/net/arp: address, hardware type, flags, … Flags 0x0 mean that the neighbour has not answered. */
const ARP_LINE = /^(\S+) +0x\w+ +0x(\w+) /;

async function neighbours(): ReturnType<NetworkQuestions['neighbours']> {
  const text = await readFile('/proc/net/arp', 'utf8').catch(() => undefined);
  const lines = text?.split('\n').slice(1) ?? [];
  const found = lines.flatMap((line): readonly (readonly [string, boolean])[] => {
    const [, address = '', flags = ''] = ARP_LINE.exec(line) ?? [];
    return address === '' ? [] : [[address, Number.parseInt(flags, 16) !== 0]];
  });
  return text === undefined ? undefined : new Map(found);
}
