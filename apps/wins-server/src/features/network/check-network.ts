import { readFile } from 'node:fs/promises';
import type { Check, DoctorHost } from '../../kernel/doctor-host.js';
import { ok, problem, type Reported } from '../../kernel/conditions/condition.js';
import { firstOf } from '../host-network/source-conditions.js';
import type { NetworkFacts } from './network-facts.js';
import { networkSettings, wantsNothing } from './network-settings.js';

const NAME = 'host network';
/** Maximum number of hosts to dial. Limited, because each may take a second. */
const MOST_PROBED = 64;
const ROUTED = new Set(['applied', 'foreign']);

export interface NetworkQuestions {
  /** Returns the IPv4 neighbours of this host, and whether each answers; undefined without /proc/net/arp. */
  neighbours(): Promise<ReadonlyMap<string, boolean> | undefined>;
}

export function networkQuestions(): NetworkQuestions {
  return { neighbours };
}

/** Dials the other hosts of the cluster. The daemon itself reports its routes. */
export const checkNetwork: Check<DoctorHost & NetworkQuestions> = {
  name: NAME,
  needsConfig: true,
  needsDaemon: true,
  look: async (host, { config }) => {
    if (wantsNothing(networkSettings(config))) return [];
    const facts = await host.featureFacts<NetworkFacts>(config.listen, 'network');
    return facts.on ? probePeers(facts, config.hostNetwork?.probePort, host) : [];
  },
};

async function probePeers(
  { routes }: Pick<NetworkFacts, 'routes'>,
  port: number | undefined,
  host: Pick<DoctorHost & NetworkQuestions, 'dialAt' | 'neighbours'>,
): Promise<readonly Reported[]> {
  const routed = routes.flatMap((route) =>
    route.peer !== undefined && ROUTED.has(route.state) ? [{ ...route, peer: route.peer }] : [],
  );
  // Several subnets may have one next hop, which is then one host.
  const peers = [...new Map(routed.map((route) => [route.gateway, route])).values()];
  if (peers.length === 0) return [];
  const probed = port === undefined ? [] : peers.slice(0, MOST_PROBED);
  const dialled = await Promise.all(
    probed.map(async ({ peer, gateway }) => {
      const outcome = await host.dialAt(gateway, port ?? 0);
      return outcome === 'open' ? [] : [`${peer}: ${gateway} port ${port}: ${outcome}`];
    }),
  );
  // Read after dialling, because dialling makes the system look for the neighbour.
  const links = await host.neighbours();
  const absent = peers
    .filter(({ gateway }) => links?.get(gateway) === false)
    .map(({ peer, gateway }) => `${peer}: ${gateway} does not answer on the link`);
  const wrong = [...absent, ...dialled.flat()];
  if (wrong.length > 0) {
    const advice = 'look at these hosts, their firewalls and the network';
    return [problem(NAME, 'hostUnreachable', firstOf(wrong), advice)];
  }
  const seen = peers.filter(({ gateway }) => links?.get(gateway) === true).length;
  const linked = links === undefined ? '' : `, ${seen} are on the link`;
  const answered = port === undefined ? '' : `, ${probed.length} answered at port ${port}`;
  return [ok(NAME, `${peers.length} other hosts have a route${linked}${answered}`)];
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
