module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'csi-proxy',
};
