// npm run demo: shows the main functions in a temporary folder. A client, as in a container, runs a program of the host and reaches a port of the
// host.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort, portOf } from './free-port.mjs';

const root = path.resolve(import.meta.dirname, '..');
const nx = createRequire(import.meta.url).resolve('nx/bin/nx.js');
const wins = path.join(root, 'dist', 'wins.cjs');

const say = (text) => console.log(`\n\u25b8 ${text}`);
const indent = (text) => text.replace(/^(?=.)/gm, '    ');

function expect(what, found, wanted) {
  if (found !== wanted) throw new Error(`${what}: found ${found}, wanted ${wanted}`);
  console.log(`    ✓ ${what}: ${found}`);
}

say('Building the programs into dist/');
execFileSync(process.execPath, [nx, 'run-many', '-t', 'build', '-p', 'wins,wins-server,wins-cli'], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
});

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-demo-')));
const environment = { ...process.env, WINS_RUNTIME_DIR: path.join(folder, 'run') };
let daemon;
let proxy;
let exporter;

async function client(...args) {
  console.log(`    $ wins cli ${args.join(' ')}`);
  const child = spawn(process.execPath, [wins, 'cli', ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      output[stream] += text;
    });
  }
  const [code] = await once(child, 'close');
  process.stdout.write(indent(output.stdout));
  process.stdout.write(indent(output.stderr));
  return { code, ...output };
}

function program(name, source) {
  const file = path.join(folder, name);
  writeFileSync(file, `#!${process.execPath}\n${source}\n`);
  chmodSync(file, 0o755);
  return file;
}

const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

try {
  const greeter = program(
    'greeter.exe',
    `console.log('hello from the host, ' + process.argv.slice(2).join(' and '));
console.error('this line is on standard error');
process.exitCode = 7;`,
  );
  const pinned = program('pinned.exe', `console.log('the bytes that were pinned');`);
  const unlisted = program('unlisted.exe', `console.log('this must never run');`);
  exporter = createServer((request, response) =>
    response.end(`metrics of the host for ${request.url}\n`),
  );
  await once(exporter.listen(0, '127.0.0.1'), 'listening');
  const hostPort = portOf(exporter);
  const agent = path.join(folder, 'agent');
  const config = path.join(folder, 'config');
  writeFileSync(
    config,
    `white_list:
  processPaths:
    - ${greeter}
    - path: ${pinned}
      sha256: ${sha256(pinned)}
  proxyPorts: [${hostPort}]
systemagent:
  localEnabled: true
  localPlanDirectory: ${agent}/plans
  workDirectory: ${agent}/work
  appliedPlanDirectory: ${agent}/applied
`,
  );
  chmodSync(config, 0o600);

  const planned = path.join(folder, 'node.yaml');
  const plan = {
    files: [
      { path: planned, content: btoa('node: demo\n'), permissions: '0640', uid: -1, gid: -1 },
    ],
    instructions: [{ name: 'greet', command: process.execPath, args: ['-e', 'console.log(1)'] }],
    probes: { exporter: { httpGet: { url: `http://127.0.0.1:${hostPort}/healthz` } } },
  };
  mkdirSync(path.join(agent, 'plans'), { recursive: true, mode: 0o700 });
  writeFileSync(path.join(agent, 'plans', 'demo.plan'), JSON.stringify(plan), { mode: 0o600 });

  say(
    'The config of the daemon allows two programs, one of them pinned to its bytes, and one port; the node has a plan:',
  );
  process.stdout.write(indent(readFileSync(config, 'utf8')));

  say('Starting the daemon');
  daemon = spawn(process.execPath, [wins, 'srv', 'app', 'run', '--config', config], {
    env: environment,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const died = once(daemon, 'exit');
  const log = createInterface({ input: daemon.stderr })[Symbol.asyncIterator]();
  /** Shows the daemon's log up to a record, and returns the record. */
  const logged = async (msg) => {
    for (;;) {
      const { value, done } = await log.next();
      if (done) throw new Error(`the daemon ended before it said: ${msg}`);
      const record = JSON.parse(value);
      console.log(`    ${record.level}: ${record.msg}`);
      if (record.msg === msg) return record;
    }
  };
  await logged('ready');

  say('The plan of the node: a file is written, an instruction runs, a probe asks a component');
  const ended = await logged('an instruction of a plan has ended');
  expect('exit code of the instruction', ended.exitCode, 0);
  await logged('a probe of a plan has become healthy');
  expect('content of the file', readFileSync(planned, 'utf8').trim(), 'node: demo');
  expect('mode of the file', (statSync(planned).mode & 0o777).toString(8), '640');
  void (async () => {
    for (;;) if ((await log.next()).done) return;
  })();

  say('Running a program of the host through the pipe: its output and its exit code come back');
  const run = await client('prc', 'run', '--path', greeter, '--args', 'you me');
  expect('standard output', run.stdout.trim(), 'hello from the host, you and me');
  expect('standard error', run.stderr.trim(), 'this line is on standard error');
  expect('exit code', run.code, 7);

  say('A program that is not on the list is refused');
  expect('exit code', (await client('prc', 'run', '--path', unlisted)).code, 126);

  say('The pinned program runs while it has the pinned bytes');
  expect('exit code', (await client('prc', 'run', '--path', pinned)).code, 0);
  writeFileSync(pinned, `#!${process.execPath}\nconsole.log('other bytes under the same name');\n`);
  say('Other bytes under its name are refused');
  expect('exit code', (await client('prc', 'run', '--path', pinned)).code, 126);

  say('A port of the host, reached through the tunnel: a real HTTP request');
  const containerPort = await freePort();
  const publish = `TCP:${containerPort}:${hostPort}`;
  console.log(`    $ wins cli proxy --publish ${publish}`);
  proxy = spawn(process.execPath, [wins, 'cli', 'proxy', '--publish', publish], {
    env: environment,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const [line] = await once(createInterface({ input: proxy.stderr }), 'line');
  console.log(`    ${line}`);
  const url = `http://127.0.0.1:${containerPort}/metrics`;
  console.log(`    $ curl ${url}`);
  const answer = await fetch(url, { headers: { connection: 'close' } });
  expect('status', answer.status, 200);
  expect('answer', (await answer.text()).trim(), 'metrics of the host for /metrics');
  const proxyEnded = once(proxy, 'exit');
  proxy.kill('SIGTERM');
  expect('exit code of the client', (await proxyEnded)[0], 0);

  say('Stopping the daemon');
  daemon.kill('SIGTERM');
  const [code] = await died;
  expect('exit code of the daemon', code, 0);
  console.log('\nThe demo succeeded.');
} finally {
  proxy?.kill('SIGKILL');
  daemon?.kill('SIGKILL');
  exporter?.close();
  rmSync(folder, { recursive: true, force: true });
}
