// In a bundle, the native addon of Windows is a file beside it: its package finds it in node_modules only.
export const koffiBesideBundle = {
  name: 'koffi-beside-bundle',
  setup(build) {
    build.onResolve({ filter: /^koffi$/ }, () => ({ path: 'koffi', namespace: 'beside-bundle' }));
    build.onLoad({ filter: /.*/, namespace: 'beside-bundle' }, () => ({
      contents: [
        `const addon = { exports: {} };`,
        `process.dlopen(addon, require('node:path').join(__dirname, 'koffi-win32-x64.node'));`,
        `module.exports = addon.exports;`,
      ].join('\n'),
    }));
  },
};
