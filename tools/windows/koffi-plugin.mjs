// Makes a bundle load koffi's native addon from a file beside the bundle, because koffi itself looks only in node_modules. An executable contains the
// addon as an asset. linux-host and windows-host need different addons.
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
