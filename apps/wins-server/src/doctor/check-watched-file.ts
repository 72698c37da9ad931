import { watchedPath } from '../upgrade/watched/watched-path.js';
import type { Check, DoctorProbe } from './doctor-probe.js';
import { ok, problem, warning, type Finding } from './finding.js';

const CHECK = 'upgrade';

/** Says of a watched file whether an upgrade to it would be begun, and how the latest upgrade ended. */
export const checkWatchedFile: Check = {
  name: CHECK,
  look: async ({ probe, config: { upgrade } }) => {
    if (upgrade.mode !== 'watching') return [];
    return [await judge(upgrade.watchingPath, probe), ...(await latest(probe))];
  },
};

async function judge(written: string, probe: DoctorProbe): Promise<Finding> {
  const path = watchedPath(written, process.platform);
  if (path === undefined) {
    const advice = 'write an absolute path, on Windows one with the letter of a drive';
    return problem(CHECK, `${written} is no absolute path: it is not watched`, advice);
  }
  const judgement = await probe.judgeWatchedFile(path);
  switch (judgement.kind) {
    case 'trusted':
      return ok(CHECK, `${path} is watched: the daemon becomes what is there`);
    case 'missing':
      return ok(CHECK, `${path} is watched, and does not exist`);
    case 'untrusted':
      return problem(
        CHECK,
        judgement.message,
        'make it, its folder and those above writable by administrators alone: the daemon does not take it',
      );
  }
}

async function latest(probe: DoctorProbe): Promise<readonly Finding[]> {
  const result = await probe.latestUpgrade();
  if (result === undefined) return [];
  const { outcome, reason, to } = result;
  const found = `the latest upgrade${to?.version === undefined ? '' : ` to ${to.version}`}: ${outcome}: ${reason}`;
  if (outcome === 'upgraded' || outcome === 'nothing') return [ok(CHECK, found)];
  if (outcome === 'failed') {
    return [problem(CHECK, found, 'run wins up again: it finishes or undoes first what was left')];
  }
  const advice =
    'put another program there; the same one is not tried again, but by wins up --path';
  return [warning(CHECK, found, advice)];
}
