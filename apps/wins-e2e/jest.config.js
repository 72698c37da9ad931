module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'wins-e2e',
  // Programs that wait for each other take half of one core; those of the long tier take more.
  maxWorkers: process.env.WINS_TEST_TIER === 'long' ? 2 : 3,
  // A bound for what hangs, not a measure: real processes on a busy machine take their time.
  testTimeout: process.env.WINS_TEST_TIER === 'long' ? 900_000 : 300_000,
};
