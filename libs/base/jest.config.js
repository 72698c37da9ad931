module.exports = { preset: '../../jest.preset.js', displayName: 'base' };
