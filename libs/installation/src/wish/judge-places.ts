import path from 'node:path';
import { dataFolders, type InstallPlaces } from './install-places.js';

/** Closing these to everyone but administrators would break the system. On Windows on any drive. */
const OF_WINDOWS =
  /^[A-Z]:\\(?:windows(?:\\.*)?|(?:program files(?: \(x86\))?|programdata|users|recovery|boot|perflogs|\$.*|system volume information))?$/i;
const OF_POSIX =
  /^\/(?:(?:bin|boot|dev|etc|home|lib|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)|usr\/(?:bin|lib|local|sbin|share)|var\/(?:lib|log|run|tmp))?$/;

/**
 * Returns the variable with an unusable folder, and the finding. Config and data folders are closed to others, and
 * data is removed, so they must not be system folders, nor contain anything that must stay or be accessible. Pure.
 */
export function judgePlaces(
  places: InstallPlaces,
  platform: NodeJS.Platform,
): readonly [variable: string, found: string] | undefined {
  const { configFolder, dataFolder, programFolder, stateFolder } = places;
  const isWindows = platform === 'win32';
  const ofSystem = isWindows ? OF_WINDOWS : OF_POSIX;
  const paths = isWindows ? path.win32 : path.posix;
  const isWithin = (inner: string, outer: string): boolean => {
    const way = paths.relative(outer, inner);
    return way !== '..' && !way.startsWith(`..${paths.sep}`) && !paths.isAbsolute(way);
  };
  const closed = [
    ['CATTLE_AGENT_CONFIG_DIR', configFolder],
    ['CATTLE_AGENT_VAR_DIR', dataFolder],
  ] as const;
  const open = [programFolder, ...places.morePathElements];
  for (const [name, folder] of closed) {
    if (ofSystem.test(folder)) return [name, 'a system folder'];
    if (isWithin(stateFolder, folder) || isWithin(folder, stateFolder))
      return [name, `the folder of the manifest, ${stateFolder}`];
    if (open.some((each) => isWithin(each, folder)))
      return [name, 'a folder that contains the folder of the programs'];
  }
  if (dataFolders(places).some((each) => isWithin(configFolder, each)))
    return ['CATTLE_AGENT_CONFIG_DIR', 'a folder that the agent empties'];
  if (
    isWithin(programFolder, stateFolder) ||
    dataFolders(places).some((each) => isWithin(programFolder, each))
  )
    return ['CATTLE_AGENT_BIN_PREFIX', 'a folder that is removed'];
  return undefined;
}
