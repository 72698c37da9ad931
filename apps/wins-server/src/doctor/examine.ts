import {
  ConfigError,
  defaultConfigPath,
  historyFolder,
  parseConfig,
  type ConfigProblem,
  type LoadedConfig,
} from '@wins/config';
import { messageOf, withGivenOptions } from '@wins/base';
import { checkDaemon, checkVersions } from './check-daemon.js';
import { checkAudit } from './check-audit.js';
import { checkDisk } from './check-disk.js';
import { checkHistory, checkRefusals } from './check-history.js';
import { CHECKS } from '../features/checks.js';
import { ok, problem, warning, type Reported } from '../kernel/conditions/condition.js';
import type { Check, DoctorHost } from '../kernel/doctor-host.js';
import { cannotTell } from '../client/cannot-tell.js';

const OWN_CHECKS: readonly Check[] = [checkAudit, checkDisk, checkHistory, checkRefusals];

/**
 * The state of this host and its daemon: what the daemon reports, and what this process sees of the host. A failing check does not stop the next
 * ones.
 */
export async function examine<Host extends DoctorHost>(
  host: Host,
  features: readonly { readonly doctor?: readonly Check<Host>[] }[] = CHECKS,
): Promise<readonly Reported[]> {
  const ofFeatures = features.flatMap(({ doctor = [] }) => doctor);
  const { loaded, isUsable, findings } = await checkConfig(host, (one) =>
    ofFeatures.some(({ reports }) => reports?.(one) === true),
  );
  const look = (check: Check<Host>) => runCheck(check, host, loaded);
  const all: Reported[] = [
    ...(await look(checkVersions)),
    ...(await look(checkDaemon)),
    ...findings,
  ];
  const isAnswering = await host.daemonStatus(loaded.config.listen).then(
    () => true,
    () => false,
  );
  const checks = [...OWN_CHECKS, ...ofFeatures, ...host.systemChecks];
  for (const check of checks) {
    const isPossible =
      (isUsable || check.needsConfig !== true) && (isAnswering || check.needsDaemon !== true);
    if (isPossible) all.push(...(await look(check)));
  }
  const given = {
    ...(host.configFile !== defaultConfigPath() && { config: host.configFile }),
    server: loaded.config.listen,
  };
  return all.map((one) =>
    one.advice === undefined ? one : { ...one, advice: withGivenOptions(one.advice, given) },
  );
}

async function runCheck<Host extends DoctorHost>(
  { name, look }: Check<Host>,
  host: Host,
  loaded: LoadedConfig,
) {
  try {
    return await look(host, loaded);
  } catch (error) {
    return [cannotTell(name, error)];
  }
}

/** If the config file is unusable, `loaded` is its stored copy, or the defaults if that is unusable too. */
async function checkConfig(
  host: DoctorHost,
  isReported: (warning: ConfigProblem) => boolean,
): Promise<{
  readonly loaded: LoadedConfig;
  readonly isUsable: boolean;
  readonly findings: readonly Reported[];
}> {
  let loaded: LoadedConfig;
  try {
    loaded = await host.loadConfig();
  } catch (error) {
    const kept = await lookAtKept(host);
    const check = 'wins srv config check';
    const advice =
      kept.loaded === undefined
        ? `fix it: the daemon cannot start with it (${check})`
        : `fix it (${check}): until then the daemon uses the previous config, kept in ${historyFolder(host.configFile)}`;
    const faults =
      error instanceof ConfigError
        ? error.problems.flatMap(({ severity, message }) => (severity === 'error' ? [message] : []))
        : [messageOf(error)];
    const nothing = { ...parseConfig(''), path: host.configFile, found: false };
    return {
      loaded: kept.loaded ?? nothing,
      isUsable: kept.loaded !== undefined,
      findings: [
        ...faults.map((fault) => problem('config', 'configInvalid', fault, advice)),
        ...kept.findings,
      ],
    };
  }
  const kept = await lookAtKept(host, loaded);
  return {
    loaded,
    isUsable: true,
    findings: [...reportLoaded(loaded, isReported), ...kept.findings],
  };
}

async function lookAtKept(
  host: DoctorHost,
  known?: LoadedConfig,
): Promise<{ readonly loaded: LoadedConfig | undefined; readonly findings: readonly Reported[] }> {
  try {
    return { loaded: await host.loadKeptConfig(known), findings: [] };
  } catch (error) {
    // This is no problem: only the daemon's user and administrators may read the stored copy.
    if (error instanceof ConfigError && error.code === 'accessDenied')
      return { loaded: undefined, findings: [] };
    const advice = 'find out who changed it; a daemon that starts with a valid config replaces it';
    const found = `the kept copy of the config cannot be used: ${messageOf(error)}`;
    return {
      loaded: undefined,
      findings: [problem('config', 'keptConfigInvalid', found, advice)],
    };
  }
}

/** Reports doubts only: a config that others could write or replace was not loaded. */
function reportLoaded(
  { path, found, warnings }: LoadedConfig,
  isReported: (warning: ConfigProblem) => boolean,
): readonly Reported[] {
  const name = 'config';
  if (!found) {
    const advice = 'write one: without it no program may run and no port can be reached';
    return [warning(name, 'configMissing', `there is no ${path}`, advice)];
  }
  const findings = [ok(name, `${path} is valid, and no one else can write to it`)];
  for (const one of warnings) {
    if (isReported(one)) continue;
    findings.push(warning(name, 'configDoubtful', one.message, one.nextStep));
  }
  return findings;
}
