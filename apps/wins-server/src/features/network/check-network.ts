import type { HostNetworkStatusResponse } from '@wins/wins-api/contract';
import type { Check } from '../../doctor/doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from '../../doctor/finding.js';
import { networkSettings, wantsNothing } from './network-settings.js';

const NAME = 'host network';
const TOLD = 3;

export const checkNetwork: Check = {
  name: NAME,
  needsConfig: true,
  look: async (host, { config }) => {
    if (wantsNothing(networkSettings(config))) return [];
    try {
      return judge(await host.networkStatus(config.listen));
    } catch (error) {
      return [cannotTell(NAME, error, 'how the routes of the host stand')];
    }
  },
};

function judge(status: HostNetworkStatusResponse): readonly Finding[] {
  const { On, Reason, Down, State, Routes, Orphans, Problems } = status;
  if (!On) {
    const advice = 'have the daemon read its config again: wins srv config reload';
    return [warning(NAME, `the daemon does not keep it: ${Reason}`, advice)];
  }
  if (Down)
    return [warning(NAME, 'it was taken down by hand', 'wins srv network apply brings it back')];
  const findings: Finding[] = [];
  if (Problems.length > 0) {
    const advice = 'correct it; it is tried again, or now by wins srv network apply';
    findings.push(problem(NAME, told(Problems), advice));
  }
  const refused = Routes.filter((route) => ['conflict', 'rejected'].includes(route.State));
  if (refused.length > 0) {
    const found = told(refused.map(({ Destination, Detail }) => `${Destination}: ${Detail}`));
    const advice = 'correct "hostNetwork" in the config, or the route that is in the way';
    findings.push(problem(NAME, found, advice));
  }
  const waiting = Routes.filter((route) => route.State === 'waiting');
  if (waiting.length > 0) {
    const found = told(waiting.map(({ Destination, Detail }) => `${Destination}: ${Detail}`));
    findings.push(warning(NAME, found, 'the route is made when that is there'));
  }
  if (Orphans.length > 0) {
    const found = `routes with the mark of wins that nothing accounts for: ${told(Orphans)}`;
    findings.push(warning(NAME, found, 'remove them by hand if nobody needs them'));
  }
  if (findings.length > 0) return findings;
  if (State !== 'settled') {
    return [warning(NAME, `it is ${State}`, 'see wins srv network status')];
  }
  return [ok(NAME, `${Routes.length} routes stand as they are wanted`)];
}

function told(texts: readonly string[]): string {
  const more = texts.length - TOLD;
  return `${texts.slice(0, TOLD).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
