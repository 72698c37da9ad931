module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'tcp-tunnel',
  // A bound for what hangs, not a measure: real connections on a busy machine take their time.
  testTimeout: 60_000,
};
