import type { Check } from './doctor-probe.js';
import { ok, problem } from './finding.js';

/** The oldest Node that the sources are written for. */
const OLDEST_NODE = [20, 19] as const;

/** Says what runs on what. */
export const checkVersions: Check = {
  name: 'versions',
  look: async ({ probe }) => {
    const { wins, node, system } = await probe.versions();
    const found = `wins ${wins.Version} (${wins.Commit}), Node ${node}, ${system}`;
    const [major = 0, minor = 0] = node.split('.').map(Number);
    const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
    return [
      isOld
        ? problem('versions', found, `use Node ${OLDEST_NODE.join('.')} or later`)
        : ok('versions', found),
    ];
  },
};
