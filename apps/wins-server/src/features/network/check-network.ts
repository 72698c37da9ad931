import type { HostNetworkSource, HostNetworkStatusResponse } from '@wins/wins-api/contract';
import type { Check, DoctorHost } from '../../doctor/doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from '../../doctor/finding.js';
import { networkSettings, wantsNothing } from './network-settings.js';

const NAME = 'host network';
const TOLD = 3;
/** Maximum number of hosts to dial. Limited, because each may take a second. */
const MOST_PROBED = 64;
const ROUTED = new Set(['applied', 'foreign']);

export const checkNetwork: Check = {
  name: NAME,
  needsConfig: true,
  look: async (host, { config }) => {
    if (wantsNothing(networkSettings(config))) return [];
    try {
      const status = await host.networkStatus(config.listen);
      const probed = await probePeers(status, config.hostNetwork?.probePort, host);
      return [...judge(status), ...judgeSources(status), ...probed];
    } catch (error) {
      return [cannotTell(NAME, error, 'the state of the network')];
    }
  },
};

function judge(status: HostNetworkStatusResponse): readonly Finding[] {
  const { On, Reason, Down, State, Routes, Orphans, Problems } = status;
  if (!On) {
    const advice = 'reload the config of the daemon: wins srv config reload';
    return [warning(NAME, `the daemon does not manage it: ${Reason}`, advice)];
  }
  if (Down)
    return [warning(NAME, 'it was torn down by hand', '"wins srv network apply" restores it')];
  const details = (...states: readonly string[]): readonly string[] =>
    Routes.filter((route) => states.includes(route.State)).map(
      ({ Destination, Detail }) => `${Destination}: ${Detail}`,
    );
  const orphans = 'routes are marked as made by wins, but have no known owner: ';
  const fix = 'correct "hostNetwork" in the config, or remove the obstacle';
  const retried = 'correct it; it is retried, or now by "wins srv network apply"';
  const findings = [
    ...some(problem, Problems, '', retried),
    ...some(problem, details('conflict', 'rejected'), '', fix),
    ...some(
      warning,
      details('waiting'),
      '',
      'wait: the daemon adds the route when the missing part exists',
    ),
    ...some(warning, Orphans, orphans, 'remove them by hand if they are unused'),
  ];
  if (findings.length > 0) return findings;
  if (State !== 'settled') {
    return [warning(NAME, `it is ${State}`, 'see "wins srv network status"')];
  }
  const routes = Routes.filter(({ Kind }) => Kind === 'route' || Kind === '').length;
  const containers = routes < Routes.length ? ', and the network of containers,' : '';
  return [ok(NAME, `${routes} routes${containers} are in place`)];
}

function judgeSources({ Sources }: HostNetworkStatusResponse): readonly Finding[] {
  return Sources.flatMap((source) => {
    const { Source, State, AgeSeconds, Peers, SkippedCount, Skipped, Limited, Doubted } = source;
    const silent = AgeSeconds < 0 ? 'has not answered yet' : `last answered ${AgeSeconds} s ago`;
    const [one, more] =
      Source === 'containers'
        ? (['published port', 'published ports'] as const)
        : (['other host', 'other hosts'] as const);
    const known = `${Source}: ${Peers} ${Peers === 1 ? one : more}`;
    const findings: Finding[] = [];
    if (State === 'degraded' || State === 'stale') {
      const found = `${known} kept, and it ${silent}: ${source.Problem}`;
      const advice = 'its last answer stays in use until it answers again';
      findings.push((State === 'degraded' ? problem : warning)(NAME, found, advice));
    } else if (Doubted) {
      const found = `${known} kept, although most are missing in its latest snapshot`;
      findings.push(warning(NAME, found, 'look again in 10 s'));
    } else if (State === 'starting')
      findings.push(warning(NAME, `${Source}: it ${silent}`, 'wait'));
    else findings.push(ok(NAME, known));
    const many = `${Source}: it has more ${more} than the daemon accepts`;
    if (Limited) findings.push(warning(NAME, many, 'split the cluster'));
    const advice = 'correct the labels of these hosts, or the ports of these containers';
    const first = Skipped.slice(0, TOLD).map(
      ({ Id, Code }) => `${Id || 'one without an id'}: ${Code}`,
    );
    const skipped = `${Source}: ${SkippedCount} of its elements are skipped: ${first.join('; ')}`;
    if (SkippedCount > 0) findings.push(warning(NAME, skipped, advice));
    return [...findings, ...judgeDuplicates(source)];
  });
}

function judgeDuplicates({ Source, Duplicates }: HostNetworkSource): readonly Finding[] {
  const stale = Duplicates.filter(({ Stale }) => Stale);
  const alike = Duplicates.filter(({ Stale }) => !Stale);
  const names = stale.slice(0, TOLD).map(({ Id }) => Id);
  return [
    ...some(
      warning,
      stale.map(({ Id, Of }) => `${Id} (now ${Of})`),
      `${Source}: stale Node objects, whose hosts joined again: `,
      `kubectl delete node ${names.join(' ')}`,
    ),
    ...some(
      warning,
      alike.map(({ Id, Of }) => `${Id} and ${Of}`),
      `${Source}: hosts have the same address: `,
      'give each its own address, or remove the one that does not exist any more',
    ),
  ];
}

async function probePeers(
  { Routes }: HostNetworkStatusResponse,
  port: number | undefined,
  host: Pick<DoctorHost, 'dialAt' | 'neighbours'>,
): Promise<readonly Finding[]> {
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
  if (wrong.length > 0)
    return [problem(NAME, told(wrong), 'look at these hosts, their firewalls and the network')];
  const seen = peers.filter(({ Gateway }) => links?.get(Gateway) === true).length;
  const answered = port === undefined ? '' : `, ${probed.length} answered at port ${port}`;
  return [ok(NAME, `${peers.length} other hosts have a route, ${seen} are on the link${answered}`)];
}

function some(
  level: typeof problem,
  texts: readonly string[],
  before: string,
  advice: string,
): readonly Finding[] {
  return texts.length === 0 ? [] : [level(NAME, before + told(texts), advice)];
}

function told(texts: readonly string[]): string {
  const more = texts.length - TOLD;
  return `${texts.slice(0, TOLD).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
