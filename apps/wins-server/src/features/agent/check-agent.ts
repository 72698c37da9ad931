import { messageOf } from '@wins/base';
import type { AskedRegistry } from '@wins/system-agent';
import type { Check, DoctorHost } from '../../doctor/doctor-host.js';
import { ok, problem, warning, type Reported } from '../../kernel/conditions/condition.js';
import { agentSettings, isOff, type AgentSettings } from './agent-settings.js';

const NAME = 'agent';

export const checkAgent: Check = {
  name: NAME,
  needsConfig: true,
  look: async (host, { config }) => {
    const settings = agentSettings(config);
    // The config check reports an agent that is off.
    if (isOff(settings)) return [];
    return [...(await judgeFolders(settings, host)), ...(await judgeConnection(settings, host))];
  },
};

async function judgeFolders(
  { workDirectory, appliedPlanDirectory, localPlanDirectory }: AgentSettings,
  host: DoctorHost,
): Promise<readonly Reported[]> {
  const folders = [workDirectory, appliedPlanDirectory, localPlanDirectory ?? ''];
  const findings: Reported[] = [];
  for (const folder of folders.filter((one) => one !== '')) {
    const judgement = await host.judgeFolder(folder);
    if (judgement.kind === 'untrusted') {
      const advice =
        'make it and the folders above it writable by administrators only: a writer there controls the node';
      findings.push(problem(NAME, 'folderUntrusted', judgement.message, advice));
    } else {
      const is = judgement.kind === 'missing' ? 'does not exist yet' : 'can be used';
      findings.push(ok(NAME, `${folder} ${is}`));
    }
  }
  return findings;
}

async function judgeConnection(settings: AgentSettings, host: DoctorHost) {
  const { connectionInfoFile, isStrict } = settings;
  if (connectionInfoFile === undefined) return [];
  const trusted = isStrict
    ? 'its certificate must come from the authority in the connection info'
    : 'authorities of the system are trusted, too';
  try {
    const secret = await host.reachSecret(settings);
    if (secret === 'missing') {
      const advice =
        'wait for the management cluster to create it, or join the node again: wins join --again';
      return [
        warning(NAME, 'planSecretMissing', 'the API server has no Secret for this node', advice),
      ];
    }
    return [ok(NAME, `the API server answers, and the Secret can be read and written; ${trusted}`)];
  } catch (error) {
    const advice = `check ${connectionInfoFile} and the network path to the API server; ${trusted} (agentStrictTLSMode)`;
    return [problem(NAME, 'planServerRefuses', messageOf(error), advice)];
  }
}

const REGISTRIES = 'registries';

/** Runs on request only, because it contacts registries of other owners. */
export const checkRegistries: Check = {
  name: REGISTRIES,
  needsConfig: true,
  look: async (host, { config }) => {
    const settings = agentSettings(config);
    if (isOff(settings)) return [ok(REGISTRIES, `not needed: ${settings.reason}`)];
    let check: Awaited<ReturnType<DoctorHost['checkRegistries']>>;
    try {
      check = await host.checkRegistries(settings);
    } catch (error) {
      return [
        problem(
          REGISTRIES,
          'registriesInvalid',
          messageOf(error),
          'correct it: until then no image of a plan can be fetched',
        ),
      ];
    }
    const { registriesFile, registries, warnings } = check;
    const { configFile } = settings.credentialProviders ?? {};
    const files = [registriesFile, ...(configFile === undefined ? [] : [configFile])].join(' and ');
    if (registriesFile === '') return [ok(REGISTRIES, 'there is no registries.yaml')];
    return [
      ...(registries.length === 0 ? [ok(REGISTRIES, `${registriesFile} lists no registry`)] : []),
      ...warnings.map((found) =>
        warning(REGISTRIES, 'registriesDoubtful', found, `check ${files}`),
      ),
      ...registries.map((registry) => judge(registry, registriesFile)),
    ];
  },
};

function judge(registry: AskedRegistry, file: string): Reported {
  const { url, mirrorOf, proxy, trust, login, isLoginShown, failure } = registry;
  const facts = [
    ...(mirrorOf === '' ? [] : [`mirrors.${mirrorOf}`]),
    ...(proxy === '' ? [] : [`proxy ${proxy}`]),
    `trust: ${trust}`,
    login === '' ? 'no login' : `${login}${isLoginShown ? '' : ' (not required)'}`,
  ].join(', ');
  if (failure === '') return ok(REGISTRIES, `${url} answers (${facts})`);
  const advice = `check ${file}; "wins srv registry check IMAGE" checks one image`;
  return problem(REGISTRIES, 'registryFails', `${failure} (${facts})`, advice);
}
