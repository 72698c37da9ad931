import { ConfigError, parseConfig, type LoadedConfig, type WinsConfig } from '@wins/config';
import { messageOf } from '@wins/wins-program';
import type { DoctorProbe } from './doctor-probe.js';
import { ok, problem, warning, type Finding } from './finding.js';

const CHECK = 'config';

/** The config and what is to be said of its file. */
export interface ConfigFindings {
  readonly config: WinsConfig;
  readonly findings: readonly Finding[];
}

/** Reads the config file; when it cannot be used, the other checks look at the defaults. */
export async function checkConfig(probe: DoctorProbe): Promise<ConfigFindings> {
  let loaded: LoadedConfig;
  try {
    loaded = await probe.loadConfig();
  } catch (error) {
    const findings = problemsOf(error).map((found) =>
      problem(CHECK, found, 'mend it: the daemon does not start with it (wins srv config check)'),
    );
    return { config: parseConfig('').config, findings };
  }
  const { config, path, found, warnings } = loaded;
  if (!found) {
    const advice = 'write one: without it no program may run and no port may be reached';
    return { config, findings: [warning(CHECK, `there is no ${path}`, advice)] };
  }
  return {
    config,
    findings: [
      ok(CHECK, `${path} is valid, and nobody else may write it`),
      // That nothing may run is said of the whitelist.
      ...warnings
        .filter(({ code }) => code !== 'noWhiteList')
        .map(({ message }) => warning(CHECK, message, 'use the spelling of the documentation')),
      ...(await placeOf(path, probe)),
    ],
  };
}

/** Whoever may replace the file, or a folder above it, decides what may run. */
async function placeOf(path: string, probe: DoctorProbe): Promise<readonly Finding[]> {
  const judgement = await probe.judgeFile(path);
  if (judgement.kind !== 'untrusted') return [];
  const advice = 'put it where only administrators can replace it and the folders above it';
  const found = `others could replace ${path} or a folder above it: ${judgement.rule}`;
  return [warning(CHECK, found, advice)];
}

function problemsOf(error: unknown): readonly string[] {
  if (!(error instanceof ConfigError)) return [messageOf(error)];
  return error.message.split('\n');
}
