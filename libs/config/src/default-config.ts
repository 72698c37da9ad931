/**
 * Where the daemon looks for its configuration when no one says otherwise.
 *
 * `c:/etc/rancher/wins/config` on Windows, `/etc/rancher/wins/config` elsewhere.
 */
export function defaultConfigPath(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? 'c:/etc/rancher/wins/config' : '/etc/rancher/wins/config';
}

/** The file that `upgrade.mode: watching` watches when the configuration names none. */
export function defaultWatchingPath(platform: NodeJS.Platform): string {
  return platform === 'win32' ? 'c:/etc/rancher/wins/wins.exe' : '/etc/rancher/wins/wins';
}
