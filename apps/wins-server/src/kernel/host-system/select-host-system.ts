import type { HostSystem } from '@wins/base';
import { FeatureError } from '../feature-error.js';

export function hostSystem(platform: NodeJS.Platform): HostSystem {
  let loaded: Promise<HostSystem> | undefined;
  const system = (): Promise<HostSystem> => (loaded ??= load(platform));
  return {
    version: async () => (await system()).version(),
    adapter: async (which) => (await system()).adapter(which),
    hnsNetwork: async (which) => (await system()).hnsNetwork(which),
    routes: async () => (await system()).routes(),
    addRoutes: async (addresses) => (await system()).addRoutes(addresses),
    removeRoutes: async (addresses) => (await system()).removeRoutes(addresses),
  };
}

async function load(platform: NodeJS.Platform): Promise<HostSystem> {
  // The bundler knows process.platform, so an executable contains the code of its own system only.
  if (process.platform === 'win32') {
    if (platform === 'win32') return (await import('@wins/windows-host')).windowsHostSystem();
  } else if (platform === 'linux') {
    return (await import('@wins/linux-host')).linuxHostSystem();
  }
  const message = `this daemon does not support its host system, ${platform}`;
  throw new FeatureError('unavailable', message);
}
