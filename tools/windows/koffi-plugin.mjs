// Lets a bundle load the native addon from a file beside it; the addon's package looks only in node_modules. Inside an executable the addon is an
// asset. linux-host and windows-host each have their own addon.
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
