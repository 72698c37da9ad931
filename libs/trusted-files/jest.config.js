module.exports = { preset: '../../jest.preset.js', displayName: 'trusted-files' };
