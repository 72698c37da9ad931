import type { Check } from '../../doctor/doctor-host.js';
import { startOf } from '../../doctor/check-history.js';
import { ok, problem } from '../../doctor/finding.js';
import { wantedPrograms } from './kept-programs.js';

/** Reports each program of `keep` that the running daemon has stopped trying to start. */
export const checkKept: Check = {
  name: 'keep',
  look: async (host, { config }) => {
    if (config.keep.length === 0) return [];
    const events = await host.recentEvents(config.listen);
    const started = startOf(events);
    const since = started === undefined ? events : events.slice(events.indexOf(started));
    const programs = wantedPrograms(config, process.platform === 'win32' ? 'windows' : 'posix');
    const findings = programs.flatMap(({ label, grantedBy: { path } }) => {
      const last = since.findLast(({ type, ...facts }) => {
        const isStart = type === 'runStarted' && facts['path'] === path;
        return isStart || (type === 'runGaveUp' && facts['label'] === label);
      });
      if (last?.type !== 'runGaveUp') return [];
      const found = `${label} will not be started again: ${String(last['reason'])}`;
      const advice = `see wins cli prc logs ${label}; a change of its entry, or a restart of the daemon, tries again`;
      return [problem('keep', found, advice)];
    });
    return findings.length > 0 ? findings : [ok('keep', 'no program of "keep" was given up')];
  },
};
