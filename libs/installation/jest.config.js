module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'installation',
  // Ends tests that hang. The limit is generous, because a busy machine is slow at thousands of durable writes.
  testTimeout: 180_000,
};
