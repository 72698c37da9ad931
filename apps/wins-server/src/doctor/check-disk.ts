import { auditDirectoryOf, stateDirectoryOf } from '../kept-directory.js';
import type { Check } from '../kernel/doctor-host.js';
import { problem, summary, warning } from '../kernel/conditions/condition.js';

const MIB = 1024 * 1024;
/** With less free space, the next record may not fit. */
const FULL_BYTES = MIB;
const NEARLY_FULL_BYTES = 64 * MIB;

export const checkDisk: Check = {
  name: 'disk',
  look: async (host, { config }) => {
    const folders = [
      [stateDirectoryOf(config.listen), 'state folder', NEARLY_FULL_BYTES],
      [
        auditDirectoryOf(config),
        'audit log',
        Math.max(NEARLY_FULL_BYTES, config.audit.maxFileBytes),
      ],
    ] as const;
    const looks = folders.map(async ([folder, what, enoughBytes]) => {
      const freeBytes = await host.freeBytes(folder);
      const found = `${what} ${folder}: its disk has ${Math.floor(freeBytes / MIB)} MiB free`;
      if (freeBytes >= enoughBytes) return summary('disk', found);
      if (freeBytes < FULL_BYTES) {
        const advice = 'free space there: until then no program can start';
        return problem('disk', 'diskFull', found, advice);
      }
      const advice = 'free space there: without an audit record no program can start';
      return warning('disk', 'diskNearlyFull', found, advice);
    });
    return Promise.all(looks);
  },
};
