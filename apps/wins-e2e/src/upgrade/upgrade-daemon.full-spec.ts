import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync } from 'node:fs';
import { constants, createServer } from 'node:http2';
import path from 'node:path';
import {
  ProcessStartRequest,
  ProcessStartResponse,
  ProcessWaitResponse,
} from '@wins/wins-api/contract';
import { runWins, startProgram } from '../testing/built-program.js';
import { standIn } from '../testing/packages/package-folder.js';
import { cliUpgrade, runHelper } from '../testing/upgrade/daemon-upgrades.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import type { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

describe('a client of a daemon that may run the helper', () => {
  let world: UpgradeWorld;
  beforeAll(async () => {
    world = await nodeWithDaemon();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it('has a daemon that cannot be made of a program that is not one file', async () => {
    const { code, stderr } = await runWins(
      ['up', '--service', world.definition],
      world.workspace.environment,
      standIn('wins.cjs'),
    );
    expect([code, stderr]).toEqual([65, expect.stringContaining('another system')]);
    expect(world.supervisor.started).toHaveLength(1);
  });

  // require-words-of-run.spec.ts has the other words.
  it('can make the helper upgrade, and nothing else', async () => {
    const proof = world.workspace.path('proof');
    for (const words of [
      ['cli', 'deliver', '--from', '/etc/hostname', '--to', proof],
      ['--config', 'up', 'srv', 'app', 'run'],
      ['--get-yargs-completions', 'up', 'srv', ''],
    ]) {
      const { code, stdout, stderr } = await runHelper(world, singleFile('v1.1.0'), ...words);
      expect([code, stdout.toString(), stderr]).toEqual([
        65,
        '',
        expect.stringMatching(/^wins: cannot do this in a run of a daemon: .*; wanted up with /),
      ]);
    }
    expect(existsSync(proof)).toBe(false);
    const { code, stdout } = await runHelper(world, singleFile('v1.1.0'), '--version');
    expect([code, stdout.toString()]).toEqual([0, 'rancher-wins version v1.1.0\n']);
  });

  it("is refused a config other than the service's, and the message names the next step", async () => {
    const config = world.workspace.path('my config');
    copyFileSync(world.config, config);
    const before = world.supervisor.command;
    const { code, stderr } = await cliUpgrade(world, singleFile('v1.1.0'), '--config', config);
    expect([code, stderr]).toEqual([
      126,
      expect.stringMatching(
        /^wins: refused: the service reads the config .* Deliver the config to /,
      ),
    ]);
    expect(stderr).toContain(`wins-upgrade up --wins-args '--config "${config}"'`);
    expect(world.supervisor.command).toEqual(before);
    expect(world.supervisor.started).toHaveLength(1);
  });

  it('learns at once that there is nothing to do, or that the helper refuses', async () => {
    const same = await cliUpgrade(world, singleFile('v1.0.0'));
    expect([same.code, same.stdout.toString()]).toEqual([0, expect.stringContaining('nothing')]);
    const older = await cliUpgrade(world, singleFile('v0.9.0'));
    expect([older.code, older.stderr]).toEqual([126, expect.stringContaining('is older than')]);
    expect(world.supervisor.started).toHaveLength(1);
  });

  it('distinguishes a refusal from a failure, by daemon or helper', async () => {
    const folder = path.dirname(world.target);
    chmodSync(folder, 0o777);
    const { code, stderr } = await cliUpgrade(world, singleFile('v1.1.0'));
    chmodSync(folder, 0o755);
    expect([code, stderr]).toEqual([
      126,
      expect.stringMatching(/^wins: refused: cannot replace a program in .*others can write/),
    ]);
    expect(world.supervisor.started).toHaveLength(1);
  });

  const hasTerminal = spawnSync('script', ['--version']).status === 0;
  const onTerminal = wherePossible(it, hasTerminal, 'what a terminal shows: there is no script');

  onTerminal('reads the result there in a line of its own', async () => {
    const upgrader = world.workspace.write('wins-upgrade', singleFile('v1.0.1'), 0o755);
    const words = ['cli', 'upgrade', '--server', world.pipe, '--path', upgrader];
    const command = [process.execPath, WINS, ...words].join(' ');
    const args = ['--quiet', '--return', '--command', command, '/dev/null'];
    const { environment } = world.workspace;
    const { code, stdout } = await startProgram('script', args, environment).outcome;
    const shown = stdout.toString().split('\r\u001b[K');
    expect(shown).toContainEqual(expect.stringContaining('waiting for the new daemon (1 s'));
    expect([code, shown.at(-1)]).toEqual([0, 'wins: upgraded: the release v1.0.1 serves\r\n']);
  });

  it('comes back when the new daemon serves, with the config that the service has', async () => {
    const before = world.supervisor.command;
    const { code, stdout, stderr } = await cliUpgrade(
      world,
      singleFile('v1.1.0'),
      '--config',
      world.config,
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.toString()).toBe('wins: upgraded: the release v1.1.0 serves\n');
    expect(await world.rest()).toBe('v1.1.0');
    expect(world.supervisor.command).toEqual(before);
  });
});

/** A gRPC server that ends each call with a status after it has received the request. */
async function answeringAll(address: string, statusOf: (call: string, bytes: Buffer) => number) {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const status = statusOf(String(headers[':path']), Buffer.concat(chunks));
      const fields = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status };
      stream.respond(fields, { endStream: true });
    });
  });
  await once(server.listen(address), 'listening');
  return { address, [Symbol.asyncDispose]: () => Promise.resolve(void server.close()) };
}

/**
 * Imitates a daemon that ends during the helper's first run: after the first start, it refuses every stream except another start. The output
 * of the second run is the upgrade's result.
 */
async function endingDaemon(address: string, outcome: string) {
  const server = createServer();
  let id = '';
  let starts = 0;
  server.on('stream', (stream, headers) => {
    const call = String(headers[':path']);
    stream.on('error', () => undefined);
    const answer = (message: Uint8Array) => {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc' },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
      stream.end(framed(message));
    };
    if (/\/Start(?:Exactly)?$/.test(call)) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        starts += 1;
        const { args } = ProcessStartRequest.decode(Buffer.concat(chunks).subarray(5));
        id = args.find((word) => word.startsWith('--id='))?.slice(5) ?? id;
        const data = { value: 'rancher-wins-upgrade', runId: '0'.repeat(32) };
        answer(ProcessStartResponse.encode({ data, warnings: [], leaseMs: 0 }).finish());
      });
    } else if (starts === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else if (call.endsWith('/Wait')) {
      const value = Buffer.from(JSON.stringify({ id, outcome, reason: 'as it says' }));
      answer(ProcessWaitResponse.encode({ options: { $case: 'stdOut', value } }).finish());
    } else stream.resume().on('end', () => answer(new Uint8Array()));
  });
  await once(server.listen(address), 'listening');
  return { address, [Symbol.asyncDispose]: () => Promise.resolve(void server.close()) };
}

/** Prefixes a gRPC message with its compression flag and its length. */
function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

describe('wins cli upgrade', () => {
  it('asks for the result if the daemon ends, and refuses calls, once the helper runs', async () => {
    using workspace = new Workspace();
    await using ending = await endingDaemon(workspace.path('ending'), 'nothing');
    const { code, stdout, stderr } = await runWins(
      [
        'cli',
        'upgrade',
        '--server',
        ending.address,
        '--wait-timeout',
        '60s',
        '--path',
        workspace.script('wins-upgrade', 'exit 0'),
      ],
      workspace.environment,
    );
    expect([code, stdout.toString(), stderr]).toEqual([0, 'wins: nothing: as it says\n', '']);
  });

  it('lets the helper set the config of a Go daemon, which does not mark its runs', async () => {
    using workspace = new Workspace();
    const asked: string[] = [];
    // Imitates a Go daemon that has no health service and refuses to run the helper.
    await using original = await answeringAll(workspace.path('original'), (call, bytes) => {
      asked.push(bytes.includes('--wins-args=--config "/new config"') ? `${call} with it` : call);
      return call.includes('Health') ? 12 : 7;
    });
    const { code, stderr } = await runWins(
      [
        'cli',
        'upgrade',
        '--server',
        original.address,
        '--config',
        '/new config',
        '--path',
        workspace.script('wins-upgrade', 'exit 0'),
      ],
      workspace.environment,
    );
    expect([code, stderr]).toEqual([126, expect.stringContaining('the daemon refused')]);
    expect(asked).toEqual([
      '/grpc.health.v1.Health/Check',
      expect.stringMatching(/Start with it$/),
    ]);
  });

  it('waits only until its time-out for a pipe that accepts calls but answers none', async () => {
    using workspace = new Workspace();
    const silent = createServer();
    await once(silent.listen(workspace.path('silent')), 'listening');
    const helper = workspace.script('wins-upgrade', 'exit 0');
    const { code, stderr } = await runWins(
      [
        'cli',
        'upgrade',
        '--server',
        workspace.path('silent'),
        '--path',
        helper,
        '--once',
        'pod',
        '--wait-timeout',
        '1s',
      ],
      workspace.environment,
    );
    silent.close();
    expect([code, stderr]).toEqual([
      125,
      expect.stringMatching(
        /^wins: the daemon on pipe .* gave no answer within --wait-timeout; run "wins doctor" on the host to see why\n$/,
      ),
    ]);
  });
});
