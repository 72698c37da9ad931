module.exports = { preset: '../../jest.preset.js', displayName: 'windows-host' };
