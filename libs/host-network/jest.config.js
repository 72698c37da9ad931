module.exports = { preset: '../../jest.preset.js', displayName: 'host-network' };
