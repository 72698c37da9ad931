module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'system-agent',
};
