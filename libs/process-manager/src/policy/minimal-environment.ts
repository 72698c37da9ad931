import path from 'node:path';

import type { PathDialect } from './parsed-path.js';
import { variableKey } from './guarded-variables.js';

/** What a minimal environment is made of. */
export interface EnvironmentFacts {
  readonly dialect: PathDialect;
  /** The daemon's own environment, of which facts about the machine are taken and nothing else. */
  readonly own: NodeJS.ProcessEnv;
  /** A private folder for temporary files; on Windows, where the one of the system is open to all. */
  readonly temporaryDirectory: string;
}

// Facts about a Windows machine: the same for everyone on it, and no secret.
const WINDOWS_FACTS = (
  'ProgramFiles ProgramFiles(x86) ProgramW6432 CommonProgramFiles CommonProgramFiles(x86) CommonProgramW6432 ' +
  'ALLUSERSPROFILE PUBLIC COMPUTERNAME NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE PROCESSOR_IDENTIFIER ' +
  'PROCESSOR_LEVEL PROCESSOR_REVISION'
).split(' ');

/**
 * The variables that every run gets: enough to find the system's programs and folders. Pure. Nothing is handed on for being
 * there: a daemon's own variables may be secrets, or the home of its account.
 *
 * On other systems: `PATH` of the system's folders, `LANG=C.UTF-8`, `HOME=/nonexistent`, and the daemon's `TZ`.
 */
export function minimalEnvironment(facts: EnvironmentFacts): Readonly<Record<string, string>> {
  return facts.dialect === 'windows' ? windows(facts) : posix(facts);
}

function posix({ own }: EnvironmentFacts): Record<string, string> {
  const timeZone = own['TZ'];
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LANG: 'C.UTF-8',
    HOME: '/nonexistent',
    ...(timeZone !== undefined && { TZ: timeZone }),
  };
}

function windows({ own, temporaryDirectory }: EnvironmentFacts): Record<string, string> {
  const known = new Map(
    Object.entries(own).map(([name, value]) => [variableKey(name, 'windows'), value]),
  );
  const fact = (name: string): string | undefined => known.get(variableKey(name, 'windows'));
  const root = fact('SystemRoot') ?? 'C:\\Windows';
  const drive = fact('SystemDrive') ?? path.win32.parse(root).root.replace(/\\$/, '');
  const system = path.win32.join(root, 'System32');
  const folders = ['', 'Wbem', 'WindowsPowerShell\\v1.0'].map((name) =>
    path.win32.join(system, name),
  );
  const facts: Record<string, string> = {};
  for (const name of WINDOWS_FACTS) {
    const value = fact(name);
    if (value !== undefined) facts[name] = value;
  }
  return {
    ...facts,
    SystemRoot: root,
    windir: root,
    SystemDrive: drive,
    ComSpec: path.win32.join(system, 'cmd.exe'),
    PATH: [folders[0], root, ...folders.slice(1)].join(';'),
    PATHEXT: '.COM;.EXE;.BAT;.CMD;.VBS;.VBE;.JS;.JSE;.WSF;.WSH;.MSC',
    ProgramData: fact('ProgramData') ?? `${drive}\\ProgramData`,
    OS: 'Windows_NT',
    TEMP: temporaryDirectory,
    TMP: temporaryDirectory,
  };
}
