import path from 'node:path';

/** All paths are absolute and canonical. */
export interface InstallPaths {
  readonly configFolder: string;
  readonly config: string;
  readonly authorities: string;
  /** File with the id by which the server knows the node. */
  readonly nodeId: string;
  readonly dataFolder: string;
  readonly connectionInfo: string;
  readonly workFolder: string;
  readonly appliedFolder: string;
  /** Readable by everyone, and in the PATH. */
  readonly programFolder: string;
  readonly program: string;
  /** Folders of other programs, for the PATH. */
  readonly morePathElements: readonly string[];
  /** Files that the Go release of wins installed. Uninstalling an adopted installation removes these files. */
  readonly filesOfGo: readonly string[];
  /** Private, and outside the folders above. */
  readonly stateFolder: string;
}

/** Folders that the user chose. Absent ones have the defaults of the platform. */
export interface PathChoices {
  /** Default: `etc/rancher/wins` in `root`. */
  readonly configFolder?: string | undefined;
  /** Default: `var/lib/rancher/agent` in `root`. */
  readonly dataFolder?: string | undefined;
  /** The program goes to `bin` in this folder. Default: `usr/local` in `root`. */
  readonly prefix?: string | undefined;
  /** Default: `C:\\` or `/`. */
  readonly root?: string | undefined;
}

/** Returns the paths that Rancher's installer uses, because Rancher's plans rely on these paths. Outside Windows, returns equivalent paths. */
export function installPaths(
  platform: NodeJS.Platform,
  { configFolder, dataFolder, prefix, root: given }: PathChoices = {},
): InstallPaths {
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
export function dataFolders(paths: InstallPaths): readonly string[] {
  // `.history` contains the configs that were in force.
  return [paths.workFolder, paths.appliedFolder, `${paths.config}.history`];
}

/** System folders of Windows, on any drive. Making them private to administrators would break the system. */
const OF_WINDOWS =
  /^[A-Z]:\\(?:windows(?:\\.*)?|(?:program files(?: \(x86\))?|programdata|users|recovery|boot|perflogs|\$.*|system volume information))?$/i;
const OF_POSIX =
  /^\/(?:(?:bin|boot|dev|etc|home|lib|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)|usr\/(?:bin|lib|local|sbin|share)|var\/(?:lib|log|run|tmp))?$/;

/**
 * Returns the variable that names an unusable folder, and the reason. Installing makes config and data folders private,
 * and uninstalling removes the data. So they must not be system folders, nor contain files that others need.
 */
export function judgePaths(
  paths: InstallPaths,
  platform: NodeJS.Platform,
): readonly [variable: string, found: string] | undefined {
  const { configFolder, dataFolder, programFolder, stateFolder } = paths;
  const isWindows = platform === 'win32';
  const ofSystem = isWindows ? OF_WINDOWS : OF_POSIX;
  const nodePath = isWindows ? path.win32 : path.posix;
  const isWithin = (inner: string, outer: string): boolean => {
    const way = nodePath.relative(outer, inner);
    return way !== '..' && !way.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(way);
  };
  const closed = [
    ['CATTLE_AGENT_CONFIG_DIR', configFolder],
    ['CATTLE_AGENT_VAR_DIR', dataFolder],
  ] as const;
  const open = [programFolder, ...paths.morePathElements];
  for (const [name, folder] of closed) {
    if (ofSystem.test(folder)) return [name, 'a system folder'];
    if (isWithin(stateFolder, folder) || isWithin(folder, stateFolder))
      return [name, `the folder of the manifest, ${stateFolder}`];
    if (open.some((each) => isWithin(each, folder)))
      return [name, 'a folder that contains the folder of the programs'];
  }
  if (dataFolders(paths).some((each) => isWithin(configFolder, each)))
    return ['CATTLE_AGENT_CONFIG_DIR', 'a folder that the agent empties'];
  if (
    isWithin(programFolder, stateFolder) ||
    dataFolders(paths).some((each) => isWithin(programFolder, each))
  )
    return ['CATTLE_AGENT_BIN_PREFIX', 'a folder that is removed'];
  return undefined;
}
