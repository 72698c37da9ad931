module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'wins-server',
  // A bound for what hangs, not a measure.
  testTimeout: 60_000,
};
