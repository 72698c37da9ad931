module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'wins-e2e',
  // Programs that wait for each other take less than half of one core; the long specs run beside those of Windows.
  maxWorkers: process.env.WINS_TEST_TIER === 'long' ? 3 : 4,
  // A bound for what hangs, not a measure: real processes on a busy machine take their time.
  testTimeout: process.env.WINS_TEST_TIER === 'long' ? 900_000 : 300_000,
};
