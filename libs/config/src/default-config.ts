/** Returns `c:/etc/rancher/wins/config` on Windows, and `/etc/rancher/wins/config` elsewhere. */
export function defaultConfigPath(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? 'c:/etc/rancher/wins/config' : '/etc/rancher/wins/config';
}

/** Default of `upgrade.watchingPath`. */
export function defaultWatchingPath(platform: NodeJS.Platform): string {
  return platform === 'win32' ? 'c:/etc/rancher/wins/wins.exe' : '/etc/rancher/wins/wins';
}
