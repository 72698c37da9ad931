import fc from 'fast-check';

import {
  childEnvironment,
  faultOfAllowedVariables,
  type AllowedVariables,
} from './child-environment.js';
import type { PathDialect } from './parsed-path.js';
import { ProcessError } from '../process-error.js';

function build(
  base: Readonly<Record<string, string>>,
  envs: readonly string[],
  dialect: PathDialect = 'posix',
  allowed: AllowedVariables = 'any',
) {
  return { ...childEnvironment({ base: [base], envs, allowed, dialect }) };
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
  it('is the base, layer by layer, and the entries that are granted', () => {
    const base = [{ HOME: '/nonexistent', PATH: '/bin' }, { PATH: '/opt' }];
    const request = { base, envs: ['A=1=2', 'EMPTY='], dialect: 'posix' } as const;
    expect({ ...childEnvironment({ ...request, allowed: ['A', 'EMPTY'] }) }).toEqual({
      HOME: '/nonexistent',
      PATH: '/opt',
      A: '1=2',
      EMPTY: '',
    });
  });

  it('refuses what the entry does not grant, and says which key grants it (A40)', () => {
    for (const allowed of [[], ['B'], ['KUBE_*'], ['A_*']] as const) {
      expect(codeOf(() => build({}, ['A=1'], 'posix', allowed))).toBe('envNotAllowed');
    }
    expect(() => build({}, ['A=1'], 'posix', [])).toThrow(/"A".* Add its exact name to "envs"/);
    expect(build({}, ['KUBE_X=1', 'A=2'], 'posix', ['KUBE_*', 'A'])).toEqual({
      KUBE_X: '1',
      A: '2',
    });
    expect(build({}, ['kube_x=1'], 'windows', ['KUBE_*'])).toEqual({ kube_x: '1' });
    expect(codeOf(() => build({}, ['kube_x=1'], 'posix', ['KUBE_*']))).toBe('envNotAllowed');
  });

  it.each(['posix', 'windows'] as const)(
    'reads the list of an entry no more often for many variables than for one: %s',
    (dialect) => {
      const readsFor = (envs: readonly string[]): number => {
        let reads = 0;
        const names = Array.from({ length: 300 }, (_, number) => `NAME_${number}`);
        const allowed = new Proxy(names, {
          get: (list, key, receiver) => {
            if (typeof key === 'string' && /^[0-9]+$/.test(key)) reads += 1;
            return Reflect.get(list, key, receiver) as unknown;
          },
        });
        build({}, envs, dialect, allowed);
        return reads;
      };
      const many = Array.from({ length: 256 }, (_, number) => `NAME_${number}=x`);
      expect(readsFor(many)).toBe(readsFor(['NAME_299=x']));
    },
  );

  it.each([
    'HOME',
    'TAR_OPTIONS',
    'GIT_CONFIG_GLOBAL',
    'PYTHONSTARTUP',
    'NODE_OPTIONS',
    'WINS_SERVICE',
  ])(
    'guards %s also where any is granted, or its beginning, and passes it where it is named (A40)',
    (name) => {
      for (const allowed of ['any', [`${name.slice(0, 3)}*`]] as const) {
        expect(codeOf(() => build({}, [`${name}=x`], 'posix', allowed))).toBe('envNotAllowed');
      }
      expect(build({}, [`${name}=x`], 'posix', [name])).toEqual({ [name]: 'x' });
    },
  );

  it.each(['NODE_NAME', 'POD_IP', 'HTTPS_PROXY', 'CATTLE_SERVER'])(
    'passes %s, which leads no program anywhere, where any is granted',
    (name) => {
      expect(build({}, [`${name}=x`])).toEqual({ [name]: 'x' });
    },
  );

  it.each([['*'], [''], ['A=B'], ['A*B'], ['A**'], ['A\0']])('finds fault with %j', (name) => {
    expect(faultOfAllowedVariables([name])).toMatch(/in its "envs".*; wanted/);
    expect(faultOfAllowedVariables(['A', 'B_*'])).toBeUndefined();
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
    'refuses the name %j on Windows, because other programs may fold it to ASCII',
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
    expect(build({ Zone: 'a' }, ['ZONE=b'], 'windows')).toEqual({ ZONE: 'b' });
    expect(build({ Zone: 'a' }, ['ZONE=b'])).toEqual({ Zone: 'a', ZONE: 'b' });
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

  it('gives the child exactly the base plus the granted entries, or refuses, for any input', () => {
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
