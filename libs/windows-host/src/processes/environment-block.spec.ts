import { programEnvironment, windowsEnvironmentBlock } from './windows-process-start.js';
import { WindowsError } from '../windows-error.js';

const textOf = (environment: Record<string, string>): string =>
  windowsEnvironmentBlock(environment).toString('utf16le');

describe('windowsEnvironmentBlock', () => {
  it('is sorted without regard to case, and ends with two NULs', () => {
    expect(textOf({ b: '2', A: '1', C: 'ä=3', a_: '' })).toBe('A=1\0a_=\0b=2\0C=ä=3\0\0');
    expect(textOf({})).toBe('\0\0');
  });

  it('keeps one of two names that differ in case', () => {
    expect(textOf({ Path: '1', PATH: '2' })).toBe('PATH=2\0\0');
  });

  it('never lets a letter whose upper case is ASCII replace another name', () => {
    const forged = { 'COM\u017FPEC': 'x', 'w\u0131nd\u0131r': 'x', 'SY\u017FTEMROOT': 'x' };
    const real = { ComSpec: 'C:\\c', windir: 'C:\\W', SystemRoot: 'C:\\W' };
    const entries = textOf({ ...real, ...forged }).split('\0');
    expect(entries).toEqual(
      expect.arrayContaining(['ComSpec=C:\\c', 'windir=C:\\W', 'SystemRoot=C:\\W']),
    );
  });

  it.each([{ '': '1' }, { 'a=b': '1' }, { '=C:': 'C:\\' }, { 'a\0': '1' }, { a: '1\0B=2' }])(
    'refuses %j',
    (environment) => {
      expect(() => windowsEnvironmentBlock(environment)).toThrow(WindowsError);
    },
  );
});

describe('programEnvironment', () => {
  it('adds what little works without, and has nothing looked for in the working directory', () => {
    expect(programEnvironment({ A: '1' }, { SystemRoot: 'C:\\Windows', B: '2' })).toEqual({
      A: '1',
      SystemRoot: 'C:\\Windows',
      NoDefaultCurrentDirectoryInExePath: '1',
    });
  });

  it('keeps the system root that is there, however it is spelt', () => {
    const environment = { SYSTEMROOT: 'D:\\W' };
    expect(programEnvironment(environment, { SystemRoot: 'C:\\Windows' })).toMatchObject(
      environment,
    );
  });

  it('lets nothing take the safe search for programs away', () => {
    const environment = {
      nodefaultcurrentdirectoryinexepath: '',
      'NoDefaultCurrentD\u0131rectoryInExePath': 'x',
    };
    const block = textOf(programEnvironment(environment, {}));
    expect(block.split('\0')).toContain('NoDefaultCurrentDirectoryInExePath=1');
    expect(block).not.toContain('nodefault');
  });
});
