module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'event-ring',
};
