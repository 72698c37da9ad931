import type { Check } from '../../doctor/doctor-host.js';
import { ok, problem } from '../../doctor/finding.js';

export const checkOrphans: Check = {
  name: 'orphans',
  look: async (host, { config }) => {
    const orphans = await host.orphans(config);
    if (orphans.length === 0) return [ok('orphans', 'no process of an earlier daemon is left')];
    return orphans.map(({ pid, name, path, evidence }) => {
      const what = path ?? name ?? 'a program';
      const found = `process ${pid} runs ${what} without a daemon (known by its ${evidence})`;
      return problem('orphans', found, 'start the daemon, which ends it, or kill it yourself');
    });
  },
};
