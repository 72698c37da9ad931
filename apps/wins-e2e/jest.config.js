module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'wins-e2e',
  maxWorkers: 2,
  // A bound for what hangs, not a measure: real processes on a busy machine take their time.
  testTimeout: process.env.WINS_TEST_TIER === 'long' ? 900_000 : 300_000,
};
