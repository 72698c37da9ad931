import type { Check } from './doctor-probe.js';
import { ok, problem } from './finding.js';

const CHECK = 'orphans';

/** Names processes that a daemon started which is dead by now. */
export const checkOrphans: Check = {
  name: CHECK,
  look: async ({ probe, config }) => {
    const orphans = await probe.orphans(config);
    if (orphans.length === 0) return [ok(CHECK, 'no process of a dead daemon runs')];
    return orphans.map(({ pid, name, path, evidence }) => {
      const what = path ?? name ?? 'a program';
      const found = `process ${pid} runs ${what} without a daemon (known by its ${evidence})`;
      return problem(CHECK, found, 'start the daemon, which ends it, or end it yourself');
    });
  },
};
