import {
  serviceDefinition,
  type Program,
  type RegisterOptions,
} from './windows-service-definition.js';

const EXE = 'C:\\Program Files\\rancher\\wins.exe';
const program = (execPath: string, script: string): Program => ({
  execPath,
  argv: [execPath, script, 'srv', 'app', 'run', '--register'],
  cwd: () => 'D:\\somewhere',
});
const options = (more: Partial<RegisterOptions> = {}): RegisterOptions => ({
  debug: false,
  quiet: false,
  ...more,
});

describe('the service as it is registered', () => {
  it('is the executable itself', () => {
    const { name, command, startType } = serviceDefinition(options(), program(EXE, EXE));
    expect({ name, command, startType }).toEqual({
      name: 'rancher-wins',
      command: [EXE, 'srv', 'app', 'run'],
      startType: 'automatic',
    });
  });

  it('is node and the script where the program is a script', () => {
    const script = 'Z:\\work\\wins.cjs';
    const { command } = serviceDefinition(options(), program('C:\\node.exe', script));
    expect(command.slice(0, 3)).toEqual(['C:\\node.exe', script, 'srv']);
  });

  it('keeps what it was registered with, the config as an absolute path', () => {
    const { command } = serviceDefinition(
      options({
        config: 'my config.yaml',
        debug: true,
        quiet: true,
        'log-file-size': 65_536,
        'log-files': 2,
      }),
      program(EXE, EXE),
    );
    expect(command.slice(4)).toEqual([
      '--config',
      'D:\\somewhere\\my config.yaml',
      '--debug',
      '--quiet',
      '--log-file-size',
      '65536',
      '--log-files',
      '2',
    ]);
  });

  it('keeps the profile that it was registered with, its file as an absolute path', () => {
    const words = (more: object) => serviceDefinition(options(more), program(EXE, EXE)).command;
    expect(words({ profile: 'cpu', 'profile-output': 'p.pprof' }).slice(4)).toEqual([
      '--profile',
      'cpu',
      '--profile-output',
      'D:\\somewhere\\p.pprof',
    ]);
    expect(words({ profile: 'heap' }).slice(4)).toEqual(['--profile', 'heap']);
    expect(words({ profile: 'none', 'profile-output': 'x' })).toHaveLength(4);
  });

  it('starts late and after others when that is asked for, and does not keep that in its command line', () => {
    const { command, startType, dependencies } = serviceDefinition(
      options({ 'delayed-start': true, 'depends-on': 'HNS, Tcpip' }),
      program(EXE, EXE),
    );
    expect([startType, dependencies]).toEqual(['delayed', ['HNS', 'Tcpip']]);
    expect(command).toHaveLength(4);
  });

  it('is restarted after 5, 10, 15 seconds and then every 15 seconds', () => {
    const { failurePolicy } = serviceDefinition(options(), program(EXE, EXE));
    expect(failurePolicy).toEqual({
      restartDelaysMs: [5000, 10_000, 15_000],
      resetAfterSeconds: 600,
    });
  });
});
