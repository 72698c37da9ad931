import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, Workspace } from '../testing/workspace.js';

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, unknown>>;
}

const npm = path.join(
  path.dirname(process.execPath),
  process.platform === 'win32' ? 'npm.cmd' : 'npm',
);
const tsc = require.resolve('typescript/bin/tsc');
const libraries = readdirSync(path.join(ROOT, 'libs')).map((folder) => ({
  folder: path.join(ROOT, 'libs', folder),
  manifest: JSON.parse(
    readFileSync(path.join(ROOT, 'libs', folder, 'package.json'), 'utf8'),
  ) as Manifest,
}));

/** What a user of each library would first reach for. */
const EXPORTS: Readonly<Record<string, string>> = {
  '@wins/audit-log': 'openAuditLog',
  '@wins/config': 'parseConfig',
  '@wins/linux-host': 'unixSocketPeers',
  '@wins/http2-connection': 'serveHttp2Connection',
  '@wins/pipe-transport': 'listenPipe',
  '@wins/process-manager': 'createProcessManager',
  '@wins/tcp-tunnel': 'openTunnel',
  '@wins/windows-host': 'securedPipe',
  '@wins/wins-api': 'createWinsClient',
};

describe.each(libraries)('the package $manifest.name', ({ folder, manifest }) => {
  const workspace = new Workspace();
  const project = workspace.path('project');
  const name = EXPORTS[manifest.name] ?? 'unknown';
  const doors = Object.keys(manifest.exports)
    .filter((door) => door !== './package.json')
    .map((door) => manifest.name + door.slice(1));

  const node = (file: string) =>
    execFileSync(process.execPath, [file], { cwd: project, encoding: 'utf8' });

  beforeAll(() => {
    mkdirSync(project);
    writeFileSync(path.join(project, 'package.json'), '{ "name": "user", "private": true }');
    const [packed] = JSON.parse(
      execFileSync(npm, ['pack', '--json', '--pack-destination', workspace.folder], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as { filename: string }[];
    const tarball = workspace.path(packed?.filename ?? '');
    execFileSync(
      npm,
      ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball],
      { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] },
    );
  });
  afterAll(() => workspace[Symbol.dispose]());

  it('is imported by CommonJS', () => {
    writeFileSync(
      path.join(project, 'cjs.cjs'),
      `const library = require('${manifest.name}');
for (const door of ${JSON.stringify(doors)}) require(door);
console.log(typeof library.${name});`,
    );
    expect(node('cjs.cjs')).toBe('function\n');
  });

  it('is imported by an ES module, by name', () => {
    writeFileSync(
      path.join(project, 'esm.mjs'),
      `import { ${name} } from '${manifest.name}';
${doors.map((door) => `await import('${door}');`).join('\n')}
console.log(typeof ${name});`,
    );
    expect(node('esm.mjs')).toBe('function\n');
  });

  it('brings its types', () => {
    writeFileSync(
      path.join(project, 'typed.mts'),
      `import { ${name} } from '${manifest.name}';
${doors.map((door, index) => `import * as door${index} from '${door}'; void door${index};`).join('\n')}
// @ts-expect-error -- the type is known, so this is wrong
const wrong: 'not a function' = ${name};
void wrong;`,
    );
    execFileSync(
      process.execPath,
      [
        tsc,
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--types',
        'node',
        '--typeRoots',
        path.join(ROOT, 'node_modules/@types'),
        'typed.mts',
      ],
      { cwd: project, encoding: 'utf8' },
    );
  });

  it('holds what it needs and no more', () => {
    const installed = path.join(project, 'node_modules', manifest.name);
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    expect(files).toContain('README.md');
    expect(files.filter((file) => /\.spec\.|tsbuildinfo|out-tsc|^src/.test(file))).toEqual([]);
  });
});

it('every library is known to this test', () => {
  expect(libraries.map(({ manifest }) => manifest.name).sort()).toEqual(
    Object.keys(EXPORTS).sort(),
  );
});
