import path from 'node:path';

/** Where an installation puts what. All paths are absolute and canonical. */
export interface InstallPlaces {
  /** The config and what belongs to it: private. */
  readonly configFolder: string;
  readonly config: string;
  /** The authorities of the server, PEM. */
  readonly authorities: string;
  /** The id by which the server knows the node. */
  readonly nodeId: string;
  /** Private folder of the agent's data. */
  readonly dataFolder: string;
  readonly connectionInfo: string;
  readonly workFolder: string;
  readonly appliedFolder: string;
  /** For programs: all may read it, and it is in the PATH. */
  readonly programFolder: string;
  readonly program: string;
  /** Folders that others make and that belong into the PATH too. */
  readonly morePathElements: readonly string[];
  /** Files of the original's script; they go when its installation is adopted. */
  readonly filesOfGo: readonly string[];
  /** Manifest, journal and staged files: private, and in none of the others. */
  readonly stateFolder: string;
}

/** Paths that can be changed. */
export interface PlaceChoices {
  readonly configFolder?: string | undefined;
  readonly dataFolder?: string | undefined;
  /** The folder above `bin`. */
  readonly prefix?: string | undefined;
  /** Root of the system. Default: `C:\\` or `/`. */
  readonly root?: string | undefined;
}

/** The places of Rancher's own installer, which its plans rely on; elsewhere than on Windows what corresponds to them. Pure. */
export function installPlaces(
  platform: NodeJS.Platform,
  { configFolder, dataFolder, prefix, root: given }: PlaceChoices = {},
): InstallPlaces {
  const isWindows = platform === 'win32';
  const join = (...names: readonly string[]): string =>
    (isWindows ? path.win32 : path.posix).join(...names);
  const root = given ?? (isWindows ? 'C:\\' : '/');
  const config = configFolder ?? join(root, 'etc', 'rancher', 'wins');
  const data = dataFolder ?? join(root, 'var', 'lib', 'rancher', 'agent');
  const bin = join(prefix ?? join(root, 'usr', 'local'), 'bin');
  return {
    configFolder: config,
    config: join(config, 'config'),
    authorities: join(config, 'ranchercert'),
    nodeId: join(config, 'cattle-id'),
    dataFolder: data,
    connectionInfo: join(data, 'rancher2_connection_info.json'),
    workFolder: join(data, 'work'),
    appliedFolder: join(data, 'applied'),
    programFolder: bin,
    program: join(bin, isWindows ? 'wins.exe' : 'wins'),
    morePathElements: [join(root, 'var', 'lib', 'rancher', 'rke2', 'bin')],
    filesOfGo: [
      join(config, 'powershell.exe'),
      join(bin, 'wins-agent-uninstall.ps1'),
      join(root, isWindows ? 'Windows' : 'windows', 'wins.exe'),
    ],
    stateFolder: isWindows
      ? join(root, 'ProgramData', 'rancher-wins-install')
      : join(root, 'var', 'lib', 'wins-install'),
  };
}

/** Folders whose whole content belongs to the daemon: they are removed with all that is in them. */
export function dataFolders(places: InstallPlaces): readonly string[] {
  // In the last it keeps the config that it served with last.
  return [places.workFolder, places.appliedFolder, `${places.config}.last-good`];
}
