module.exports = { preset: '../../jest.preset.js', displayName: 'wins-e2e' };
