module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'linux-host',
};
