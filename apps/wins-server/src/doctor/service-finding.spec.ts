import { serviceFinding, type SeenService } from './service-finding.js';

const STOPPED: SeenService = {
  state: 'stopped',
  pid: 0,
  startType: 'automatic',
  commandLine: 'wins.exe srv app run --token canary',
  win32ExitCode: 1066,
  serviceExitCode: 78,
  logFolder: 'C:\\ProgramData\\rancher\\wins\\log',
};

it('says with which code a service ended, what that means, where the log is, and no secret', () => {
  const { level, found, advice } = serviceFinding(STOPPED);
  expect(found).toContain(': wins.exe srv app run --token [removed]; ');
  expect(level).toBe('problem');
  expect(found).toMatch(/; its last exit code was 78$/);
  // In Windows PowerShell, `sc` is an alias of `Set-Content`, which writes a file.
  expect(advice).toContain('wins srv config check), then start it: sc.exe start rancher-wins; ');
  expect(advice).toContain('C:\\ProgramData\\rancher\\wins\\log');
});

it('has the code of Windows for a service that gave none', () => {
  const { found, advice } = serviceFinding({ ...STOPPED, win32ExitCode: 2, serviceExitCode: 0 });
  expect(found).toMatch(/exit code was 2$/);
  expect(advice).toMatch(/^start it: sc\.exe start rancher-wins; /);
});

it.each(['running', 'startPending', 'stopPending'] as const)(
  'advises no start of a service that has a process: %s',
  (state) => {
    expect(serviceFinding({ ...STOPPED, state, pid: 7 })).toMatchObject({ level: 'ok' });
  },
);
