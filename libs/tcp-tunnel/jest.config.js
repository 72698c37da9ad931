module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'tcp-tunnel',
};
