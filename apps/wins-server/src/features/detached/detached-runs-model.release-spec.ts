import { playSimulated } from './testing/simulated-histories.js';

/** A million take more than an hour. */
const HISTORIES = Number(process.env['WINS_MODEL_HISTORIES'] ?? 200_000);

it(
  'behaves like its model in many random histories',
  () => playSimulated(HISTORIES, process.env['WINS_TEST_SEED']),
  2 ** 31 - 1,
);
