import fc from 'fast-check';

import { childEnvironment } from './child-environment.js';
import type { PathDialect } from './parsed-path.js';
import { ProcessError } from '../process-error.js';

function build(
  base: NodeJS.ProcessEnv,
  envs: readonly string[],
  dialect: PathDialect = 'posix',
  allowedNames: readonly string[] = [],
) {
  return { ...childEnvironment({ base, envs, allowedNames, dialect }) };
}

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof ProcessError) return error.code;
  }
  return 'none';
}

describe('childEnvironment', () => {
  it('passes the base on, less its own WINS_ names, the run marker and loader variables (A21)', () => {
    const base = {
      HOME: '/root',
      PATH: '/bin',
      WINS_RUNTIME_DIR: '/x',
      RANCHER_WINS_RUN: 'forged',
      LD_PRELOAD: '/evil.so',
      NODE_OPTIONS: '--require=/evil.js',
      '=C:': 'C:\\',
      GONE: undefined,
    };
    expect(build(base, ['A=1=2', 'EMPTY='])).toEqual({
      HOME: '/root',
      PATH: '/bin',
      A: '1=2',
      EMPTY: '',
    });
  });

  it.each([
    'PATH',
    'LD_PRELOAD',
    'LD_AUDIT',
    'NODE_OPTIONS',
    'NODE_COMPILE_CACHE',
    'NODE_V8_COVERAGE',
    'DOTNET_STARTUP_HOOKS',
    'DOTNET_GCName',
    'COREHOST_TRACEFILE',
    'PYTHONPYCACHEPREFIX',
    'GEM_PATH',
    'BUNDLE_GEMFILE',
    'BASH_ENV',
    'RANCHER_WINS_RUN',
  ])('refuses %s from a client', (name) => {
    expect(codeOf(() => build({}, [`${name}=x`]))).toBe('envNotAllowed');
  });

  it.each(['Path', 'pathext', 'ComSpec', 'PSModulePath', 'cor_profiler', 'Node_Options', 'windir'])(
    'refuses %s from a client on Windows, whatever its case',
    (name) => {
      expect(codeOf(() => build({}, [`${name}=x`], 'windows'))).toBe('envNotAllowed');
    },
  );

  it.each(['COM\u017FPEC', 'w\u0131ndir', 'NoDefaultCurrentD\u0131rectoryInExePath', '\u00E4'])(
    'refuses the name %j on Windows, where another may fold it to ASCII',
    (name) => {
      expect(codeOf(() => build({}, [`${name}=x`], 'windows', [name]))).toBe('invalidArgument');
      expect(build({}, [`${name}=\u00E4`])).toEqual({ [name]: '\u00E4' });
    },
  );

  it('lets the rule allow a guarded name, but never the run marker', () => {
    expect(build({ PATH: '/bin' }, ['PATH=/opt'], 'posix', ['PATH'])).toEqual({ PATH: '/opt' });
    expect(codeOf(() => build({}, ['RANCHER_WINS_RUN=x'], 'posix', ['RANCHER_WINS_RUN']))).toBe(
      'envNotAllowed',
    );
  });

  it.each([['NOEQUALS'], ['=C:=x'], ['A=1\0'], ['A\nB=1'], ['A=1', 'A=2']])(
    'refuses the malformed entries %j',
    (...envs) => {
      expect(codeOf(() => build({}, envs))).toBe('invalidArgument');
    },
  );

  it('replaces and counts duplicates without case on Windows only', () => {
    expect(build({ Temp: 'a' }, ['TEMP=b'], 'windows')).toEqual({ TEMP: 'b' });
    expect(build({ Temp: 'a' }, ['TEMP=b'])).toEqual({ Temp: 'a', TEMP: 'b' });
    expect(codeOf(() => build({}, ['a=1', 'A=2'], 'windows'))).toBe('invalidArgument');
  });

  it('never repeats a value in a message', () => {
    let message = '';
    try {
      build({}, ['PATH=s3cret']);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('PATH');
    expect(message).not.toContain('s3cret');
  });

  it('gives the child exactly base plus entries, or refuses, for any input', () => {
    const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
    const value = fc.string();
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.array(fc.tuple(name, value)), (base, pairs) => {
        let result: Record<string, string>;
        try {
          result = build(
            base,
            pairs.map(([n, v]) => `${n}=${v}`),
          );
        } catch (error) {
          expect(error).toBeInstanceOf(ProcessError);
          return;
        }
        for (const [n, v] of pairs) expect(result[n]).toBe(v);
        for (const [n, v] of Object.entries(result)) {
          expect(v).toBe(pairs.find(([own]) => own === n)?.[1] ?? base[n]);
        }
      }),
    );
  });
});
