module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'support-bundle',
};
