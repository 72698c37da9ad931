import { ConfigError, lastGoodFile, parseConfig, type LoadedConfig } from '@wins/config';
import { messageOf } from '@wins/base';
import { checkDaemon, checkVersions } from './check-daemon.js';
import { checkAudit } from './check-audit.js';
import { checkDisk } from './check-disk.js';
import { checkHistory } from './check-history.js';
import { FEATURES } from '../features/features.js';
import { isAboutEntry } from '../features/runs/check-white-list.js';
import type { Feature } from '../kernel/feature.js';
import type { Check, DoctorHost } from './doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from './finding.js';

const CHECKS: readonly Check[] = [checkDaemon, checkAudit, checkDisk, checkHistory];

/** A failing check does not stop the next ones. */
export async function examine(
  host: DoctorHost,
  features: readonly Pick<Feature, 'doctor'>[] = FEATURES,
): Promise<readonly Finding[]> {
  const { loaded, isUsable, findings } = await checkConfig(host);
  const all: Finding[] = [...(await runCheck(checkVersions, host, loaded)), ...findings];
  const checks = [
    ...CHECKS,
    ...features.flatMap(({ doctor = [] }) => doctor),
    ...host.systemChecks,
  ];
  for (const check of checks) {
    if (isUsable || check.needsConfig !== true) all.push(...(await runCheck(check, host, loaded)));
  }
  return all;
}

export async function runCheck({ name, look }: Check, host: DoctorHost, loaded: LoadedConfig) {
  try {
    return await look(host, loaded);
  } catch (error) {
    return [cannotTell(name, error)];
  }
}

/** If the config file is unusable, `loaded` is its stored copy, or the defaults if that is unusable too. */
export async function checkConfig(host: DoctorHost): Promise<{
  readonly loaded: LoadedConfig;
  readonly isUsable: boolean;
  readonly findings: readonly Finding[];
}> {
  const name = 'config';
  const kept = await lookAtKept(host);
  try {
    const loaded = await host.loadConfig();
    return {
      loaded,
      isUsable: true,
      findings: [...reportLoaded(loaded), ...kept.findings],
    };
  } catch (error) {
    const advice =
      kept.loaded === undefined
        ? 'fix it: the daemon cannot start with it (wins srv config check)'
        : `fix it (wins srv config check): until then the daemon uses the previous config, ${lastGoodFile(host.configFile)}`;
    const faults = error instanceof ConfigError ? error.message.split('\n') : [messageOf(error)];
    const nothing = { ...parseConfig(''), path: host.configFile, found: false };
    return {
      loaded: kept.loaded ?? nothing,
      isUsable: kept.loaded !== undefined,
      findings: [...faults.map((fault) => problem(name, fault, advice)), ...kept.findings],
    };
  }
}

async function lookAtKept(
  host: DoctorHost,
): Promise<{ readonly loaded: LoadedConfig | undefined; readonly findings: readonly Finding[] }> {
  try {
    return { loaded: await host.loadKeptConfig(), findings: [] };
  } catch (error) {
    // This is no problem: only the daemon's user and administrators may read the stored copy.
    if (error instanceof ConfigError && error.code === 'accessDenied')
      return { loaded: undefined, findings: [] };
    const advice = 'find out who changed it; a daemon that starts with a valid config replaces it';
    const found = `the kept copy of the config cannot be used: ${messageOf(error)}`;
    return { loaded: undefined, findings: [problem('config', found, advice)] };
  }
}

/** Reports doubts only: a config that others could write or replace was not loaded. */
function reportLoaded({ path, found, warnings }: LoadedConfig): readonly Finding[] {
  const name = 'config';
  if (!found) {
    const advice = 'write one: without it no program may run and no port can be reached';
    return [warning(name, `there is no ${path}`, advice)];
  }
  const findings = [ok(name, `${path} is valid, and no one else can write to it`)];
  for (const one of warnings) {
    // The whitelist check reports these problems.
    if (one.code === 'noWhiteList' || isAboutEntry(one)) continue;
    findings.push(warning(name, one.message, one.nextStep));
  }
  return findings;
}
