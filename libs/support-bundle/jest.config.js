module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'support-bundle',
  // A bound for what hangs, not a measure: real processes on a busy machine take their time.
  testTimeout: 60_000,
};
