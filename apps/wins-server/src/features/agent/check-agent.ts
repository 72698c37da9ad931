import { messageOf } from '@wins/base';
import type { AskedRegistry, RegistriesCheck } from '@wins/system-agent';
import { asking, type Check, type DoctorHost } from '../../kernel/doctor-host.js';
import { ok, problem, warning, type Reported } from '../../kernel/conditions/condition.js';
import { isOff } from '../../kernel/feature.js';
import { agentSettings, type AgentSettings } from './agent-settings.js';

const NAME = 'agent';

const ANSWER_TIMEOUT_MS = 5000;

export interface AgentQuestions {
  /** Reads the node's Secret, and checks the permission to write it. @throws AgentError */
  reachSecret(settings: AgentSettings): Promise<'found' | 'missing'>;
  /** Checks that the registries in `registries.yaml` answer and accept their credentials. @throws AgentError */
  checkRegistries(settings: AgentSettings): Promise<RegistriesCheck>;
}

export function agentQuestions({ fileTrust }: DoctorHost): AgentQuestions {
  return {
    reachSecret: async (settings) => {
      const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
      const { reachSecret } = await import('./running-agent.js');
      try {
        return await reachSecret(settings, fileTrust(), signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        const message = `the API server did not answer within ${ANSWER_TIMEOUT_MS / 1000} s`;
        throw new Error(message, { cause: error });
      }
    },
    checkRegistries: async (settings) => {
      const { checkRegistries: check, checkOptions } = await import('./registry-options.js');
      return check(checkOptions(settings, fileTrust()));
    },
  };
}

export const checkAgent: Check<DoctorHost & AgentQuestions> = {
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

async function judgeConnection(settings: AgentSettings, host: AgentQuestions) {
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
export const checkRegistries = asking<AgentQuestions>(
  {
    name: REGISTRIES,
    needsConfig: true,
    look: async (host, { config }) => {
      const settings = agentSettings(config);
      if (isOff(settings)) return [ok(REGISTRIES, `not needed: ${settings.reason}`)];
      let check: RegistriesCheck;
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
      const files = [registriesFile, ...(configFile === undefined ? [] : [configFile])].join(
        ' and ',
      );
      if (registriesFile === '') return [ok(REGISTRIES, 'there is no registries.yaml')];
      return [
        ...(registries.length === 0 ? [ok(REGISTRIES, `${registriesFile} lists no registry`)] : []),
        ...warnings.map((found) =>
          warning(REGISTRIES, 'registriesDoubtful', found, `check ${files}`),
        ),
        ...registries.map((registry) => judge(registry, registriesFile)),
      ];
    },
  },
  agentQuestions,
);

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
