// npm run demo:node: installs a node, joins it to a server, applies a plan, upgrades the node, leaves the server and uninstalls. A temporary folder
// serves as the root of the node. The server and its API server are doubles with real TLS.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prepare } from './prepare.mjs';
import { setTimeout as delay } from 'node:timers/promises';

const root = path.resolve(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
const TOKEN = 'token-of-the-demo-0123456789';
const LIMIT_MS = 30_000;

const say = (text) => console.log(`\n▸ ${text}`);
const indent = (text) => text.replace(/^(?=.)/gm, '    ');

function expect(what, found, wanted) {
  if (found !== wanted) throw new Error(`${what}: found ${found}, wanted ${wanted}`);
  console.log(`    ✓ ${what}: ${found}`);
}

async function until(what, condition) {
  const end = performance.now() + LIMIT_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${what}: it did not happen within 30 s`);
    await delay(20);
  }
}

if (!process.argv.includes('--built')) {
  say('Building the programs into dist/');
  const projects = 'wins,wins-server,wins-cli,wins-upgrade,rancher-client,system-agent';
  const nx = require.resolve('nx/bin/nx.js');
  execFileSync(process.execPath, [nx, 'run-many', '-t', 'build', '-p', projects], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
prepare('stand-ins');
const { startRancher } = await import('@wins/rancher-client/testing');
const { startApiServer } = await import('@wins/system-agent/testing');

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-demo-node-')));
const node = path.join(folder, 'node');
const at = (name) => path.join(node, name);
mkdirSync(node, { mode: 0o755 });

/** Creates a one-file release that runs copies of the programs in dist/stand-ins. */
function release(version) {
  const programs = path.join(folder, version);
  mkdirSync(programs);
  const dist = path.join(root, 'dist', 'stand-ins');
  for (const name of readdirSync(dist).filter((each) => /^wins.*\.cjs$|\.node$/.test(each))) {
    const file = path.join(programs, name);
    cpSync(path.join(dist, name), file);
    if (!name.endsWith('.cjs')) continue;
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replace(/VERSION ?= ?"v\d[^"]*"/g, `VERSION=${JSON.stringify(version)}`),
    );
  }
  const file = path.join(folder, `wins-${version}`);
  writeFileSync(
    file,
    `#!${process.execPath}\nrequire(${JSON.stringify(path.join(programs, 'wins.cjs'))});\n`,
  );
  chmodSync(file, 0o755);
  return file;
}

const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG'];
const environment = {
  ...Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]])),
  WINS_NODE_ROOT: node,
  WINS_RUNTIME_DIR: at('run'),
};

async function wins(program, args, { variables = {}, wanted = 0 } = {}) {
  const shown = Object.entries(variables).map(
    ([name, value]) => `${name}=${name.includes('TOKEN') ? '…' : value}`,
  );
  console.log(`    $ ${[...shown, 'wins', ...args].join(' ')}`);
  const child = spawn(program, args, {
    env: { ...environment, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  process.stdout.write(indent(output.replaceAll(folder, '')));
  if (output.includes(TOKEN)) throw new Error('the token was printed');
  expect('exit code', code, wanted);
  return output;
}

function pid() {
  const file = at('run/rancher-wins.pid');
  const found = existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[0]) : 0;
  return found > 0 && existsSync(`/proc/${found}`) ? found : undefined;
}

function filesWithToken() {
  return readdirSync(node, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(TOKEN));
}

let rancher;
let api;
try {
  const [first, second] = [release('v1.0.0'), release('v1.1.0')];
  api = await startApiServer();
  api.create({ plan: '{}' });
  rancher = await startRancher({ token: TOKEN });
  rancher.connectionInfo = JSON.parse(api.connectionInfo());
  const server = { CATTLE_SERVER: rancher.url, CATTLE_CA_CHECKSUM: rancher.checksum };
  const variables = { ...server, CATTLE_TOKEN: TOKEN };

  say('What joining would do to this node: nothing changes, and the server makes no machine');
  await wins(first, ['join', '--dry-run', '--worker'], { variables });
  expect('there is a config', existsSync(at('etc/rancher/wins/config')), false);
  const registered = () =>
    rancher.requests.filter((request) => request.path === '/v3/connect/agent').length;
  expect('registrations', registered(), 0);

  say('A server with other authorities than were promised is refused before it sees the token');
  const wrong = { ...variables, CATTLE_CA_CHECKSUM: '0'.repeat(64) };
  await wins(first, ['join', '--worker'], { variables: wrong, wanted: 65 });
  const sent = rancher.requests.filter(({ headers }) => headers.authorization?.includes(TOKEN));
  expect('requests with the token', sent.length, 0);

  say(
    'Joining: the server is judged, the node registered, all of it installed, and the daemon proved',
  );
  await wins(first, ['join', '--worker', '--label', 'demo=yes'], { variables });
  expect('registrations', registered(), 1);
  const mode = (name) => (statSync(at(name)).mode & 0o777).toString(8);
  expect(
    'mode of the connection info',
    mode('var/lib/rancher/agent/rancher2_connection_info.json'),
    '600',
  );
  expect('files with the token', filesWithToken().length, 0);
  process.stdout.write(
    indent(readFileSync(at('etc/rancher/wins/config'), 'utf8').replaceAll(folder, '')),
  );

  say('The server has a plan for the node: the agent in the daemon applies it');
  const file = at('planned');
  const content = Buffer.from('by a plan of the server\n').toString('base64');
  api.update({ plan: JSON.stringify({ files: [{ path: file, content, uid: -1, gid: -1 }] }) });
  await until('the plan is applied', () => existsSync(file));
  expect('content of the file', readFileSync(file, 'utf8').trim(), 'by a plan of the server');
  await wins(first, ['srv', 'plan', 'status']);

  say('Joining again changes nothing');
  let before = pid();
  await wins(first, ['join', '--worker'], { variables });
  expect('the same daemon runs', pid() === before, true);

  say('The job of the upgrade controller, with nothing new, and then with a newer release');
  await wins(first, ['suc'], { variables });
  expect('the same daemon runs', pid() === before, true);
  await wins(second, ['suc'], { variables });
  expect('another daemon runs', pid() !== before && pid() !== undefined, true);
  const info = await wins(second, ['cli', 'app', 'info']);
  expect('the release of the daemon', JSON.parse(info).Server.Version, 'v1.1.0');
  before = pid();

  say('Leaving: the node follows no server, and the daemon serves on');
  await wins(second, ['leave']);
  expect('there is an id', existsSync(at('etc/rancher/wins/cattle-id')), false);
  await wins(second, ['cli', 'app', 'info']);

  say('Uninstalling: what was installed goes, and what others put there stays');
  await wins(second, ['uninstall']);
  expect('a daemon runs', pid() !== undefined, false);
  expect('there is a program', existsSync(at('usr/local/bin/wins')), false);
  expect('a folder of programs is left', existsSync(at('usr/local')), false);
  expect('the file of the plan is there', existsSync(file), true);
  await wins(second, ['uninstall']);
  console.log('\nThe demo succeeded.');
} finally {
  const left = pid();
  if (left !== undefined) process.kill(left, 'SIGKILL');
  await rancher?.close();
  await api?.close();
  rmSync(folder, { recursive: true, force: true });
}
