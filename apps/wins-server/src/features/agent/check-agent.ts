import { messageOf } from '@wins/base';
import type { WinsConfig } from '@wins/config';
import type { AskedRegistry } from '@wins/system-agent';
import type { PlanStatusResponse } from '@wins/wins-api/contract';
import type { Check, DoctorHost } from '../../doctor/doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from '../../doctor/finding.js';
import { agentSettings, isOff, type AgentSettings } from './agent-settings.js';

const NAME = 'agent';
/** A healthy server sends a bookmark each minute, and ends a watch after ten minutes. */
const SILENCE_MS = 15 * 60_000;

export const checkAgent: Check = {
  name: NAME,
  needsConfig: true,
  look: async (host, { config }) => {
    const settings = agentSettings(config);
    // The config check reports an agent that is off.
    if (isOff(settings)) return [];
    return [
      ...(await judgeFolders(settings, host)),
      ...(await judgeConnection(settings, host)),
      ...(await judgePlans(config, host)),
    ];
  },
};

async function judgeFolders(
  { workDirectory, appliedPlanDirectory, localPlanDirectory }: AgentSettings,
  host: DoctorHost,
): Promise<readonly Finding[]> {
  const folders = [workDirectory, appliedPlanDirectory, localPlanDirectory ?? ''];
  const findings: Finding[] = [];
  for (const folder of folders.filter((one) => one !== '')) {
    const judgement = await host.judgeFolder(folder);
    if (judgement.kind === 'untrusted') {
      const advice =
        'make it and the folders above it writable by administrators only: a writer there controls the node';
      findings.push(problem(NAME, judgement.message, advice));
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
      return [warning(NAME, `the API server has no Secret for this node`, advice)];
    }
    return [ok(NAME, `the API server answers, and the Secret can be read and written; ${trusted}`)];
  } catch (error) {
    const advice = `check ${connectionInfoFile} and the network path to the API server; ${trusted} (agentStrictTLSMode)`;
    return [problem(NAME, messageOf(error), advice)];
  }
}

/** States in which the daemon cannot read its Secret or write results. */
const DISCONNECTED = new Set(['starting', 'disconnected', 'unregistered', 'noSecret', 'unwritten']);

function judgeSource(source: PlanStatusResponse['Sources'][number]): Finding {
  const { Source, State, Problem } = source;
  const isDisconnected = Source === 'remote' && DISCONNECTED.has(State);
  const wrong =
    Problem === '' && isDisconnected ? 'the daemon has not read its Secret yet' : Problem;
  if (wrong === '') return ok(NAME, `${Source}: ${State}`);
  const advice = 'see wins srv plan status, and the log';
  return (isDisconnected ? problem : warning)(NAME, `${Source}: ${State}: ${wrong}`, advice);
}

export async function judgePlans(
  { listen }: Pick<WinsConfig, 'listen'>,
  host: Pick<DoctorHost, 'planStatus' | 'now'>,
): Promise<readonly Finding[]> {
  let status: PlanStatusResponse;
  try {
    status = await host.planStatus(listen);
  } catch (error) {
    return [cannotTell(NAME, error, 'the state of the plans')];
  }
  if (!status.On) {
    const found = `the daemon follows no plan: ${status.Reason}`;
    return [problem(NAME, found, 'reload its config: wins srv config reload')];
  }
  const findings = status.Sources.map(judgeSource);
  if (status.LastContact === '') return findings;
  const ageMs = host.now() - Date.parse(status.LastContact);
  const contact = `last contact with the API server ${Math.round(ageMs / 1000)} s ago`;
  const advice = 'check the network path to the API server, and see the log of the daemon';
  return [...findings, ageMs > SILENCE_MS ? warning(NAME, contact, advice) : ok(NAME, contact)];
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
      ...warnings.map((found) => warning(REGISTRIES, found, `check ${files}`)),
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
  if (failure === '') return ok(REGISTRIES, `${url} answers (${facts})`);
  const advice = `check ${file}; "wins srv registry check IMAGE" checks one image`;
  return problem(REGISTRIES, `${failure} (${facts})`, advice);
}
