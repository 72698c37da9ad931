module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'installation',
  // A bound for what hangs, not a measure: thousands of durable writes on a busy machine take their time.
  testTimeout: 180_000,
};
