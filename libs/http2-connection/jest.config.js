module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'http2-connection',
};
