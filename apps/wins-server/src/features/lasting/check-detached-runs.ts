import type { WinsConfig } from '@wins/config';
import type { LastingSummary } from '@wins/wins-api/contract';
import type { Check, DoctorHost } from '../../doctor/doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from '../../doctor/finding.js';
import { wantedPrograms } from './kept-programs.js';
import { isKept } from './kept-run.js';

const NAME = 'detached runs';

/** Reports detached runs that the daemon does not start again, or would not be able to. */
export const checkDetachedRuns: Check = {
  name: NAME,
  needsConfig: true,
  look: async (host, { config }) => {
    const { keep, whiteList } = config;
    if (keep.length === 0 && !whiteList.processPaths.some(({ lasting }) => lasting?.allow))
      return [];
    try {
      const runs = await host.detachedRuns(config.listen);
      const findings = await Promise.all(runs.map((run) => judgeRun(run, config, host)));
      const found = findings.flat();
      return found.length > 0 ? found : [ok(NAME, `${runs.length} kept, all as they should be`)];
    } catch (error) {
      return [cannotTell(NAME, error, 'the state of detached runs')];
    }
  },
};

async function judgeRun(
  run: LastingSummary,
  config: WinsConfig,
  host: DoctorHost,
): Promise<readonly Finding[]> {
  const { Name: name, State: state, GaveUp: reason, Refused: refused } = run;
  const start = `wins cli prc start ${name}`;
  const level = isKept(name) ? problem : warning;
  if (state === 'gaveUp') {
    const advice = `see wins cli prc logs ${name}; "${start}" starts it`;
    return [level(NAME, `${name} will not be started again: ${reason}`, advice)];
  }
  if (state === 'stopped' && isKept(name))
    return [warning(NAME, `${name} was stopped, and stays so`, `"${start}" starts it`)];
  if (refused !== '') {
    const advice = `mend the cause: the daemon tries again, or now by "${start}"`;
    return [level(NAME, `${name} cannot be started: ${refused}`, advice)];
  }
  return (await isReplaced(run, config, host)) ? [replacedFile(run)] : [];
}

/** True if the next restart would be refused, because the program's file has other bytes than the run needs. */
async function isReplaced(
  { Name, Path, NeedsSha256 }: LastingSummary,
  config: WinsConfig,
  host: DoctorHost,
): Promise<boolean> {
  const dialect = process.platform === 'win32' ? 'windows' : 'posix';
  const kept = wantedPrograms(config, dialect).find(({ label }) => label === Name);
  const wanted = kept?.grantedBy.sha256 ?? (NeedsSha256 === '' ? [] : [NeedsSha256]);
  if (wanted.length === 0) return false;
  const found = await host.digestOf(Path).catch(() => undefined);
  return found !== undefined && !wanted.includes(found);
}

function replacedFile({ Name: name, Path: path }: LastingSummary): Finding {
  const found = `${name} runs, but could not be restarted: ${path} was replaced since it was started`;
  const advice = isKept(name)
    ? 'put the digest of the new file into sha256 of its entry, or restore the file'
    : `start the new program in its place: wins cli prc run --detach --replace --name ${name.replace(/^.*\//, '')} --path ${path}`;
  return warning(NAME, found, advice);
}
