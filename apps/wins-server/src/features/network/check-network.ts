import type { HostNetworkStatusResponse } from '@wins/wins-api/contract';
import type { Check, DoctorHost } from '../../doctor/doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from '../../doctor/finding.js';
import { networkSettings, wantsNothing } from './network-settings.js';

const NAME = 'host network';
const TOLD = 3;
/** Maximum number of hosts to dial, because each may take a second. */
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
  const findings: Finding[] = [];
  if (Problems.length > 0) {
    const advice = 'correct it; it is retried, or now by "wins srv network apply"';
    findings.push(problem(NAME, told(Problems), advice));
  }
  const refused = Routes.filter((route) => ['conflict', 'rejected'].includes(route.State));
  if (refused.length > 0) {
    const found = told(refused.map(({ Destination, Detail }) => `${Destination}: ${Detail}`));
    const advice = 'correct "hostNetwork" in the config, or remove the obstacle';
    findings.push(problem(NAME, found, advice));
  }
  const waiting = Routes.filter((route) => route.State === 'waiting');
  if (waiting.length > 0) {
    const found = told(waiting.map(({ Destination, Detail }) => `${Destination}: ${Detail}`));
    findings.push(warning(NAME, found, 'the daemon adds it once that exists'));
  }
  if (Orphans.length > 0) {
    const found = `they are marked as made by wins, but have no known owner: ${told(Orphans)}`;
    findings.push(warning(NAME, found, 'remove them by hand if they are unused'));
  }
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
    } else if (Doubted)
      findings.push(
        warning(
          NAME,
          `${known} kept, although most are missing in its latest snapshot`,
          'look again in 10 s',
        ),
      );
    else if (State === 'starting') findings.push(warning(NAME, `${Source}: it ${silent}`, 'wait'));
    else findings.push(ok(NAME, known));
    if (Limited)
      findings.push(
        warning(
          NAME,
          `${Source}: it has more ${more} than the daemon accepts`,
          'split the cluster',
        ),
      );
    if (SkippedCount > 0) {
      const first = Skipped.slice(0, TOLD).map(
        ({ Id, Code }) => `${Id === '' ? 'one' : Id}: ${Code}`,
      );
      const found = `${Source}: ${SkippedCount} of its elements are skipped: ${first.join('; ')}`;
      findings.push(
        warning(NAME, found, 'correct the labels of these hosts, or the ports of these containers'),
      );
    }
    return findings;
  });
}

/** Checks whether hosts with a route answer on the link, and at the port that the config names. */
async function probePeers(
  { Routes }: HostNetworkStatusResponse,
  port: number | undefined,
  host: Pick<DoctorHost, 'dialAt' | 'neighbours'>,
): Promise<readonly Finding[]> {
  const peers = Routes.filter(({ Peer, State }) => Peer !== '' && ROUTED.has(State));
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

function told(texts: readonly string[]): string {
  const more = texts.length - TOLD;
  return `${texts.slice(0, TOLD).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
