// node tools/play-histories.mjs [--histories N] [--seed X]
// Plays histories of detached runs against their reference model: the fixed ones of a full disk, then random ones (by default 10,000). The machine is
// simulated, and its disk is in memory. A seed always gives the same histories. Shortens a history that fails, prints it and exits with 1.
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { loadSources } from './load-sources.mjs';

const FOLDER = 'apps/wins-server/src/features/detached/testing';

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});
const [numRuns, seed] = [values.histories, values.seed].map(Number);
if (!(numRuns > 0) || !Number.isInteger(seed))
  throw new Error('--histories and --seed must be numbers');

const { simulatedNode } = await loadSources("export * from './simulated-node.js'", FOLDER);
const node = simulatedNode(createRequire(import.meta.url));
const { assert, asyncProperty, FULL_DISK, histories, nat, play, playAll } = await loadSources(
  "export { assert, asyncProperty, nat } from 'fast-check'; export * from './histories.js'",
  FOLDER,
  node.names,
);
/** @type {Iterable<unknown> | undefined} */
let playing;
process.once('beforeExit', () => {
  if (playing === undefined) return;
  console.error(`this history of seed ${seed} does not end: ${[...playing].join(', ')}`);
  process.exitCode = 1;
});
for (const history of FULL_DISK) await playAll((playing = history));
const begunMs = performance.now();
await assert(
  asyncProperty(nat(), histories, (latencies, history) => {
    node.begin(latencies);
    return play((playing = history));
  }),
  { numRuns, seed },
);
playing = undefined;
const seconds = ((performance.now() - begunMs) / 1000).toFixed(1);
const { user, system } = process.cpuUsage();
const cpuSeconds = ((user + system) / 1_000_000).toFixed(1);
console.log(
  `${numRuns} histories of seed ${seed} in ${seconds} s, with ${cpuSeconds} s of processors`,
);
