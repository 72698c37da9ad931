module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'wins-e2e',
  // Programs that wait for each other take less than half a core. The long specs run in parallel with the Windows suite.
  maxWorkers: process.env.WINS_TEST_TIER === 'long' ? 3 : 4,
  // Guards against hangs only: real processes are slow on a busy machine.
  testTimeout: process.env.WINS_TEST_TIER === 'long' ? 900_000 : 300_000,
};
