/**
 * Where the daemon looks for its configuration when nobody says otherwise.
 *
 * `c:/etc/rancher/wins/config` on Windows, `/etc/rancher/wins/config` elsewhere.
 */
export function defaultConfigPath(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? 'c:/etc/rancher/wins/config' : '/etc/rancher/wins/config';
}

/** The value that each key has when the file does not set it; sections not named here are off. */
export function defaultValues(platform: NodeJS.Platform) {
  return {
    debug: false,
    listen: 'rancher_wins',
    proxy: 'rancher_wins_proxy',
    upgradeMode: 'none',
    watchingPath: platform === 'win32' ? 'c:/etc/rancher/wins/wins.exe' : '/etc/rancher/wins/wins',
    agentStrictTlsMode: false,
  } as const;
}
