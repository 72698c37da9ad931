module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'pipe-transport',
};
