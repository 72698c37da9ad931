import * as fc from 'fast-check';
import { histories, play } from './testing/histories.js';

/** About 40 ms of a processor each. A million takes half a day. */
const HISTORIES = Number(process.env['WINS_MODEL_HISTORIES'] ?? 20_000);
const seed = process.env['WINS_TEST_SEED'];

it(
  'behaves like its model in many random histories',
  async () => {
    await fc.assert(fc.asyncProperty(histories, play), {
      numRuns: HISTORIES,
      ...(seed !== undefined && { seed: Number(seed) }),
    });
  },
  2 ** 31 - 1,
);
