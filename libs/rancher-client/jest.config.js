module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'rancher-client',
};
