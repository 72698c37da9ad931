import path from 'node:path';

/** Paths of an installation, all absolute and canonical. */
export interface InstallPlaces {
  /** Private folder of the config and related files. */
  readonly configFolder: string;
  readonly config: string;
  /** PEM file with the server's authorities. */
  readonly authorities: string;
  /** File with the id by which the server knows the node. */
  readonly nodeId: string;
  /** Private folder of the agent's data. */
  readonly dataFolder: string;
  readonly connectionInfo: string;
  readonly workFolder: string;
  readonly appliedFolder: string;
  /** Folder of programs, readable by everyone and in the PATH. */
  readonly programFolder: string;
  readonly program: string;
  /** Folders of other programs that also belong in the PATH. */
  readonly morePathElements: readonly string[];
  /** Files of the original's script; removed when its installation is adopted. */
  readonly filesOfGo: readonly string[];
  /** Private folder of manifest, journal and staged files; outside all other folders. */
  readonly stateFolder: string;
}

export interface PlaceChoices {
  readonly configFolder?: string | undefined;
  readonly dataFolder?: string | undefined;
  /** Parent folder of `bin`. */
  readonly prefix?: string | undefined;
  /** Root of the file system. Default: `C:\\` or `/`. */
  readonly root?: string | undefined;
}

/** The paths of Rancher's own installer, which Rancher's plans rely on; outside of Windows, corresponding ones. */
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

/** Folders that belong entirely to the daemon and are removed with their content. */
export function dataFolders(places: InstallPlaces): readonly string[] {
  // The last one contains the config that was last in force.
  return [places.workFolder, places.appliedFolder, `${places.config}.last-good`];
}
