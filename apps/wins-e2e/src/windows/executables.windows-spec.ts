/** @needs package probe */
import assert from 'node:assert/strict';
import { execFile, spawn, type ExecFileException } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';

const DIST = path.join(process.env['WINS_ROOT'] ?? '', 'dist');
const NATIVE = path.join(userInfo().homedir, 'AppData', 'Local', 'rancher', 'wins', 'native');

interface Outcome {
  readonly code: ExecFileException['code'];
  readonly stdout: string;
  readonly stderr: string;
}

/** Output of `tools/package/probe/wins.cjs`. */
interface Seen {
  readonly argv: readonly string[];
  readonly execPath: string;
  readonly isSea: boolean;
  readonly pid?: number;
  readonly refused: Readonly<Record<string, string>>;
}

let folder: string;
let wins: string;
let probe: string;

before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'wins executables – Ünï '));
  wins = path.join(folder, 'wins.exe');
  probe = path.join(folder, 'my probe.exe');
  copyFileSync(path.join(DIST, 'package', 'wins.exe'), wins);
  copyFileSync(path.join(DIST, 'package-probe.exe'), probe);
});

after(() => {
  rmSync(folder, { recursive: true, force: true });
});

function run(file: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const env = { ...process.env, ...more };
  return new Promise<Outcome & { readonly pid: number | undefined }>((resolve) => {
    const child = execFile(file, args, { env, cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr, pid: child.pid });
    });
  });
}

async function see(args: readonly string[], more: NodeJS.ProcessEnv = {}, file = probe) {
  const { stdout, stderr, pid } = await run(file, args, more);
  assert.equal(stderr, '');
  return { ...(JSON.parse(stdout) as Seen), child: pid };
}

/** Extracts the addon into an empty folder. */
async function extracted(): Promise<string> {
  rmSync(NATIVE, { recursive: true, force: true });
  await see(['native']);
  const [file = ''] = readdirSync(NATIVE);
  return path.join(NATIVE, file);
}

describe('wins.exe in a folder with blanks and letters of many scripts', () => {
  it('tells its version and prints nothing else', async () => {
    const { code, stdout, stderr } = await run(wins, ['--version']);
    assert.deepEqual([code, stdout, stderr], [0, 'rancher-wins version v1.0.0\n', '']);
  });

  it('is the same file as wins-upgrade.exe', () => {
    const upgrade = readFileSync(path.join(DIST, 'package', 'wins-upgrade.exe'));
    assert.ok(upgrade.equals(readFileSync(wins)));
  });

  it('says that no daemon is there', async () => {
    const { code, stderr } = await run(wins, ['cli', 'app', 'info', '--server', 'wins_nobody']);
    assert.notEqual(code, 0);
    assert.match(stderr, /^wins: .*wins_nobody/);
  });

  it('checks a config', async () => {
    const config = path.join(folder, 'a config.json');
    writeFileSync(config, JSON.stringify({ listen: 'wins_checked' }));
    const { code, stdout } = await run(wins, ['srv', 'config', 'check', '--config', config]);
    assert.equal(code, 0);
    assert.match(stdout, /listen: "wins_checked"/);
    writeFileSync(config, '{"listen": ');
    const wrong = await run(wins, ['srv', 'config', 'check', '--config', config]);
    assert.equal(wrong.code, 78);
  });

  it('prints a completion script and completes words', async () => {
    const script = await run(wins, ['completion', 'powershell']);
    assert.match(script.stdout, /Register-ArgumentCompleter/);
    const words = await run(wins, ['--get-yargs-completions', 'wins', 'cli', '']);
    assert.match(words.stdout, /^prc/m);
  });

  it('helps with every application', async () => {
    for (const application of ['cli', 'srv']) {
      const { code, stdout, stderr } = await run(wins, [application, '--help']);
      assert.equal(code, 0);
      assert.match(stdout, new RegExp(`wins ${application}`));
      assert.equal(stderr, '');
    }
  });
});

describe('a program inside an executable', () => {
  it('gets its arguments as they were given', async () => {
    const given = [
      'a b',
      '',
      'say "hi"',
      'tail\\',
      'C:\\a b\\"c"\\',
      '--config',
      '--inspect',
      'ü – 漢',
    ];
    const { argv } = await see(given);
    assert.deepEqual(argv, [probe, probe, ...given]);
  });

  it('is told the path of the executable when it was found through PATH', async () => {
    const { argv, execPath, isSea } = await see([], { PATH: folder }, 'my probe.exe');
    assert.deepEqual([execPath, ...argv], [probe, probe, probe]);
    // The command line of a single executable names no script, so programs check this property.
    assert.equal(isSea, true);
  });

  it('loads only files embedded in it, and modules of Node', async () => {
    const modules = path.join(folder, 'node_modules');
    mkdirSync(modules);
    writeFileSync(path.join(folder, 'not-inside.cjs'), 'process.exit(3)');
    for (const name of ['koffi', 'ws'])
      writeFileSync(path.join(modules, `${name}.js`), 'process.exit(3)');
    const { refused } = await see([]);
    assert.deepEqual(Object.keys(refused), ['./not-inside.cjs', 'koffi', 'ws']);
  });

  it('does not honour NODE_OPTIONS', async () => {
    const code = path.join(folder, 'preload.cjs');
    writeFileSync(code, 'process.exit(3)');
    const options = { NODE_OPTIONS: `--require "${code.replaceAll('\\', '\\\\')}"` };
    // Proves that the variable is dangerous: Node itself honours it.
    assert.equal((await run(process.execPath, ['-e', '0'], options)).code, 3);
    await see([], options);
  });

  it('does not honour OPENSSL_CONF', async () => {
    const config = path.join(folder, 'openssl.cnf');
    writeFileSync(config, 'nodejs_conf = missing_section\n[broken\n');
    const variables = { OPENSSL_CONF: config };
    const plain = await run(process.execPath, ['-p', 'crypto.randomBytes(1).length'], variables);
    assert.match(plain.stderr, /OpenSSL configuration error/);
    await see([], variables);
  });
});

describe('a code cache that somebody else made', () => {
  it('is not looked for where NODE_COMPILE_CACHE says', async () => {
    const cache = path.join(folder, 'cache');
    const script = path.join(folder, 'any.cjs');
    writeFileSync(script, '');
    // Proves that the variable works: Node itself creates the folder.
    await run(process.execPath, [script], { NODE_COMPILE_CACHE: cache });
    rmSync(cache, { recursive: true });
    await see([], { NODE_COMPILE_CACHE: cache });
    assert.throws(() => statSync(cache), { code: 'ENOENT' });
  });
});

describe('the native addon inside an executable', () => {
  it('calls Windows, from the profile of the account that runs it', async () => {
    const { pid, child } = await see(['native']);
    assert.equal(pid, child);
    assert.match((await extracted()).slice(NATIVE.length), /^\\koffi-[0-9a-f]{16}\.node$/);
  });

  it('is not extracted before it is needed', async () => {
    rmSync(NATIVE, { recursive: true, force: true });
    await see([]);
    await run(wins, ['--version']);
    assert.throws(() => statSync(NATIVE), { code: 'ENOENT' });
  });

  it('goes where the system says, not the environment', async () => {
    const elsewhere = path.join(folder, 'elsewhere');
    const names = ['USERPROFILE', 'HOME', 'ProgramData', 'LOCALAPPDATA', 'APPDATA', 'TEMP', 'TMP'];
    await extracted();
    rmSync(NATIVE, { recursive: true });
    await see(['native'], Object.fromEntries(names.map((name) => [name, elsewhere])));
    assert.equal(readdirSync(NATIVE).length, 1);
    assert.throws(() => statSync(elsewhere), { code: 'ENOENT' });
  });

  it('is extracted once', async () => {
    const file = await extracted();
    const before = statSync(file, { bigint: true });
    await see(['native']);
    const now = statSync(file, { bigint: true });
    assert.deepEqual([now.ino, now.mtimeNs], [before.ino, before.mtimeNs]);
  });

  it('replaces a file that has other bytes, also of the same size', async () => {
    const file = await extracted();
    const good = readFileSync(file);
    for (const bad of [Buffer.alloc(0), Buffer.alloc(good.length), Buffer.concat([good, good])]) {
      writeFileSync(file, bad);
      const { pid, child } = await see(['native']);
      assert.equal(pid, child);
      assert.ok(readFileSync(file).equals(good));
    }
    assert.equal(readdirSync(NATIVE).length, 1);
  });

  it('removes those of earlier releases, and nothing else, when it is extracted', async () => {
    const name = path.basename(await extracted());
    const hour = 3_600_000;
    const monthsAgo = new Date(Date.now() - 31 * 24 * hour);
    const lay = (file: string, time: Date) => {
      writeFileSync(path.join(NATIVE, file), 'what an earlier release left');
      utimesSync(path.join(NATIVE, file), time, time);
    };
    const temporary = '0a1b2c3d-0123-4567-89ab-0123456789ab.tmp';
    const kept = ['koffi-0123.node', 'koffi-0123456789abcdef.node.txt', 'notes.tmp'];
    for (const file of ['koffi-0123456789abcdef.node', temporary, ...kept]) lay(file, monthsAgo);
    const recent = 'koffi-00112233445566aa.node';
    lay(recent, new Date(Date.now() - 29 * 24 * hour));
    // The program can remove neither an addon that another process has loaded, nor a folder with an addon's name. It must not fail.
    const loaded = path.join(NATIVE, 'koffi-aaaaaaaaaaaaaaaa.node');
    copyFileSync(path.join(NATIVE, name), loaded);
    utimesSync(loaded, monthsAgo, monthsAgo);
    const load = `process.dlopen({ exports: {} }, process.argv[1]); console.log('loaded'); setInterval(() => {}, 1e6);`;
    const holder = spawn(process.execPath, ['-e', load, loaded], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    const directory = 'koffi-bbbbbbbbbbbbbbbb.node';
    mkdirSync(path.join(NATIVE, directory));
    utimesSync(path.join(NATIVE, directory), monthsAgo, monthsAgo);

    const before = readdirSync(NATIVE);
    await see(['native']);
    assert.deepEqual(readdirSync(NATIVE), before);
    // Remove the file of this release, so that only addons of other releases are left.
    rmSync(path.join(NATIVE, name));
    const { pid, child } = await see(['native']);
    assert.equal(pid, child);
    assert.deepEqual(
      readdirSync(NATIVE).sort(),
      [name, recent, directory, path.basename(loaded), ...kept].sort(),
    );
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    rmSync(NATIVE, { recursive: true, maxRetries: 20, retryDelay: 100 });
  });

  it('refuses what it cannot replace, and says where', async () => {
    const file = await extracted();
    rmSync(file);
    mkdirSync(file);
    const { code, stderr } = await run(probe, ['native']);
    assert.notEqual(code, 0);
    assert.ok(stderr.includes(`to ${file}:`), stderr);
    assert.deepEqual(readdirSync(NATIVE), [path.basename(file)]);
    rmSync(file, { recursive: true });
  });

  it('is loaded by many processes that start at once', async () => {
    rmSync(NATIVE, { recursive: true, force: true });
    const all = await Promise.all(Array.from({ length: 6 }, () => see(['native'])));
    for (const { pid, child } of all) assert.equal(pid, child);
    assert.equal(readdirSync(NATIVE).length, 1);
  });
});
