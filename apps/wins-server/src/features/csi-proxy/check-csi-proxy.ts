import type { CsiProxyStatusResponse } from '@wins/wins-api/contract';
import { csiProxySettings } from './settings/judge-settings.js';
import type { Check } from '../../doctor/doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from '../../doctor/finding.js';

const NAME = 'csi-proxy';

export const checkCsiProxy: Check = {
  name: NAME,
  needsConfig: true,
  look: async (host, { config, path }) => {
    // The config check reports faults of the section.
    if (csiProxySettings(config, path).kind !== 'wanted') return [];
    try {
      return [judge(await host.csiProxyStatus(config.listen))];
    } catch (error) {
      return [cannotTell(NAME, error, 'the state of csi-proxy')];
    }
  },
};

function judge({ On, Reason, State, Detail, RetryAt }: CsiProxyStatusResponse): Finding {
  if (!On) {
    const advice = 'reload the config of the daemon: wins srv config reload';
    return warning(NAME, `the daemon does not manage it: ${Reason}`, advice);
  }
  if (State === 'failed') {
    const advice = `correct it; the next attempt is at ${RetryAt}, or now by "wins srv csi-proxy apply"`;
    return problem(NAME, Detail, advice);
  }
  if (State === 'serving') return ok(NAME, Detail);
  const advice = 'see "wins srv csi-proxy status" and the log of the daemon';
  return warning(NAME, `${State}: ${Detail}`, advice);
}
