module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'process-manager',
};
