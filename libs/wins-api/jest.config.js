module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'wins-api',
};
