import path from 'node:path';
import { dataFolders, type InstallPlaces } from './install-places.js';

/** Folders of the system: closed for others than administrators they would end it. Those of Windows on any drive. */
const OF_WINDOWS =
  /^[A-Z]:\\(?:windows(?:\\.*)?|(?:program files(?: \(x86\))?|programdata|users|recovery|boot|perflogs|\$.*|system volume information))?$/i;
const OF_POSIX =
  /^\/(?:(?:bin|boot|dev|etc|home|lib|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)|usr\/(?:bin|lib|local|sbin|share)|var\/(?:lib|log|run|tmp))?$/;

/** What is wrong with a place that was chosen. */
export interface BadPlace {
  /** The variable that chose it. */
  readonly name: 'CATTLE_AGENT_CONFIG_DIR' | 'CATTLE_AGENT_VAR_DIR' | 'CATTLE_AGENT_BIN_PREFIX';
  readonly found: string;
  readonly wanted: string;
}

/**
 * Why files cannot be put there; undefined when they can. Config and data are closed for others, and what the agent keeps is removed with
 * all that is in it: so no such folder is one of the system, and none holds what is to stay or to be open. Pure.
 */
export function judgePlaces(
  places: InstallPlaces,
  platform: NodeJS.Platform,
): BadPlace | undefined {
  const { configFolder, dataFolder, programFolder, stateFolder } = places;
  const isWindows = platform === 'win32';
  const ofSystem = isWindows ? OF_WINDOWS : OF_POSIX;
  const paths = isWindows ? path.win32 : path.posix;
  const isWithin = (inner: string, outer: string): boolean => {
    const way = paths.relative(outer, inner);
    return way !== '..' && !way.startsWith(`..${paths.sep}`) && !paths.isAbsolute(way);
  };
  const wanted = 'a folder of its own';
  const closed = [
    ['CATTLE_AGENT_CONFIG_DIR', configFolder],
    ['CATTLE_AGENT_VAR_DIR', dataFolder],
  ] as const;
  const open = [programFolder, ...places.morePathElements];
  for (const [name, folder] of closed) {
    if (ofSystem.test(folder)) return { name, found: 'a folder of the system', wanted };
    if (isWithin(stateFolder, folder) || isWithin(folder, stateFolder))
      return { name, found: `the folder of the manifest, ${stateFolder}`, wanted };
    if (open.some((each) => isWithin(each, folder)))
      return { name, found: 'a folder with that of the programs in it', wanted };
  }
  if (dataFolders(places).some((each) => isWithin(configFolder, each)))
    return { name: 'CATTLE_AGENT_CONFIG_DIR', found: 'a folder that the agent empties', wanted };
  if (
    isWithin(programFolder, stateFolder) ||
    dataFolders(places).some((each) => isWithin(programFolder, each))
  )
    return { name: 'CATTLE_AGENT_BIN_PREFIX', found: 'a folder that is removed', wanted };
  return undefined;
}
