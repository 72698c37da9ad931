import { foldAscii, type ParsedPath, type PathDialect } from './parsed-path.js';

/** What every process name and every verified copy begins with. */
export const PROCESS_NAME_PREFIX = 'rancher-wins-';

/**
 * The name under which clients know a run: `rancher-wins-` and the file's base name less a real
 * trailing `.exe` in any ASCII case. `nginx` keeps its last letter, `x.exe.exe` loses one suffix.
 */
export function processName(baseName: string): string {
  const bare = /^.+\.exe$/i.test(baseName) ? baseName.slice(0, -4) : baseName;
  return PROCESS_NAME_PREFIX + bare;
}

/** The key under which one running instance per name is kept; Windows names differ by case only. */
export function processNameKey(name: string, dialect: PathDialect): string {
  return dialect === 'windows' ? foldAscii(name) : name;
}

/** Where the verified copy of an executable lies: in the same directory, with the prefix. */
export function stagedPathOf(executable: ParsedPath): string {
  const directory = executable.canonical.slice(0, -executable.baseName.length);
  return directory + PROCESS_NAME_PREFIX + executable.baseName;
}
