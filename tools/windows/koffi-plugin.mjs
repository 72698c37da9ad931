// In a bundle, the native addon is a file beside it: its package finds it in node_modules only. Inside an executable the
// same name stands for an asset. Each library is for one system, and so is its addon.
const LINUX = /[\\/]libs[\\/]linux-host[\\/]/;

export const koffiBesideBundle = {
  name: 'koffi-beside-bundle',
  setup(build) {
    build.onResolve({ filter: /^koffi$/ }, ({ importer }) => ({
      path: LINUX.test(importer) ? './koffi-linux-x64.node' : './koffi-win32-x64.node',
      external: true,
    }));
  },
};
