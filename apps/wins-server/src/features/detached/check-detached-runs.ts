import { isKept } from '@wins/process-manager';
import type { DetachedSummary } from '@wins/wins-api/contract';
import type { Check, DoctorHost } from '../../doctor/doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from '../../doctor/finding.js';
import { wantedPrograms } from './kept-programs.js';

const NAME = 'detached runs';

/** Reports detached runs that the daemon does not start again, or would not be able to. */
export const checkDetachedRuns: Check = {
  name: NAME,
  needsConfig: true,
  look: async (host, { config }) => {
    const { keep, whiteList } = config;
    if (keep.length === 0 && !whiteList.processPaths.some(({ detached }) => detached?.allow))
      return [];
    try {
      const runs = await host.detachedRuns(config.listen);
      const dialect = process.platform === 'win32' ? 'windows' : 'posix';
      const pins = new Map<string, readonly string[] | undefined>(
        wantedPrograms(config, dialect).map(({ label, grantedBy }) => [label, grantedBy.sha256]),
      );
      const digestOf = oncePerFile(host);
      const findings = await Promise.all(
        runs.map(async (run) => {
          const needed = pins.get(run.Name) ?? [run.NeedsSha256].filter((digest) => digest !== '');
          const found = needed.length === 0 ? undefined : await digestOf(run.Path);
          return judgeRun(run, found !== undefined && !needed.includes(found));
        }),
      );
      const found = findings.flat();
      return found.length > 0 ? found : [ok(NAME, `${runs.length} kept, all as they should be`)];
    } catch (error) {
      return [cannotTell(NAME, error, 'the state of detached runs')];
    }
  },
};

/** Several runs may execute one large program. Resolves with undefined for a file that cannot be read. */
function oncePerFile(
  host: Pick<DoctorHost, 'digestOf'>,
): (path: string) => Promise<string | undefined> {
  const known = new Map<string, Promise<string | undefined>>();
  return (path) => {
    const digest = known.get(path) ?? host.digestOf(path).catch(() => undefined);
    known.set(path, digest);
    return digest;
  };
}

/** @param isReplaced - The program's file has other bytes than the next start needs. */
function judgeRun(run: DetachedSummary, isReplaced: boolean): readonly Finding[] {
  const { Name: name, Path: path, State: state, GaveUp: reason, Refused: refused } = run;
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
  if (!isReplaced) return [];
  const found = `${name} could not be started again: ${path} has other bytes than its start needs`;
  // Only its owner can replace a run under its name.
  const advice = isKept(name)
    ? 'put the digest of the file into sha256 of its entry, or restore the file'
    : 'restore the file, or have its client replace the run by the new program (prc run --detach --replace)';
  return [warning(NAME, found, advice)];
}
