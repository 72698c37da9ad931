import { messageOf } from '@wins/base';
import type { AskedRegistry } from '@wins/system-agent';
import type { Check, DoctorHost } from '../../doctor/doctor-host.js';
import { ok, problem, warning, type Finding } from '../../doctor/finding.js';
import { agentSettings, isOff } from './agent-settings.js';

const NAME = 'registries';

/** Runs on request only, because these servers belong to others. */
export const checkRegistries: Check = {
  name: NAME,
  needsConfig: true,
  look: async (host, { config }) => {
    const settings = agentSettings(config);
    if (isOff(settings)) return [ok(NAME, `not needed: ${settings.reason}`)];
    let check: Awaited<ReturnType<DoctorHost['checkRegistries']>>;
    try {
      check = await host.checkRegistries(settings);
    } catch (error) {
      return [problem(NAME, messageOf(error), 'until then no image of a plan can be fetched')];
    }
    const { registriesFile, registries, warnings } = check;
    if (registriesFile === '') return [ok(NAME, 'there is no registries.yaml')];
    return [
      ...(registries.length === 0 ? [ok(NAME, `${registriesFile} lists no registry`)] : []),
      ...warnings.map((found) => warning(NAME, found, `correct ${registriesFile}`)),
      ...registries.map((registry) => judge(registry, registriesFile)),
    ];
  },
};

function judge(registry: AskedRegistry, file: string): Finding {
  const { url, mirrorOf, proxy, trust, login, isLoginShown, failure } = registry;
  const facts = [
    ...(mirrorOf === '' ? [] : [`mirrors.${mirrorOf}`]),
    ...(proxy === '' ? [] : [`proxy ${proxy}`]),
    `trust: ${trust}`,
    login === '' ? 'no login' : `${login}${isLoginShown ? '' : ' (not required)'}`,
  ].join(', ');
  if (failure === '') return ok(NAME, `${url} answers (${facts})`);
  const advice = `check ${file}; "wins srv registry check IMAGE" checks one image`;
  return problem(NAME, `${failure} (${facts})`, advice);
}
