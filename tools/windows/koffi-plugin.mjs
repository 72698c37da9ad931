// In a bundle, the native addon of Windows is a file beside it: its package finds it in node_modules only. Inside an
// executable the same name stands for an asset.
export const koffiBesideBundle = {
  name: 'koffi-beside-bundle',
  setup(build) {
    build.onResolve({ filter: /^koffi$/ }, () => ({
      path: './koffi-win32-x64.node',
      external: true,
    }));
  },
};
