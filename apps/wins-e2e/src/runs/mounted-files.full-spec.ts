import { Server, ServerCredentials, status, type sendUnaryData } from '@grpc/grpc-js';
import { createWinsClient } from '@wins/wins-api';
import { processServiceDefinition } from '@wins/wins-api/contract';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { runWins, startWins, type RunningProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { startRequest } from '../testing/digests.js';
import { until } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';

const READER = `const { readdirSync, readFileSync } = require('node:fs');
const folder = process.env.WINS_FILES;
console.log('folder ' + folder + ' end');
let shown = '';
setInterval(() => {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  const now = names.map((name) => name + '=' + readFileSync(folder + '/' + name)).join(' ');
  if (now !== shown) console.log('[' + (shown = now) + ']');
}, 10);`;

describe('files that a client gives to its run', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  let reader: string;
  let plain: string;
  let config: string;
  let volume: string;

  beforeAll(async () => {
    workspace = new Workspace();
    reader = workspace.program('reader', READER);
    plain = workspace.script('plain', 'echo up; exec sleep 1000');
    config = workspace.config([
      { path: reader, files: { max: 2, maxBytes: 64 }, detached: { allow: true } },
      plain,
    ]);
    daemon = await Daemon.start(workspace, config);
    volume = workspace.path('volume');
    mkdirSync(volume);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  afterEach(() => rmSync(volume, { recursive: true }));
  beforeEach(() => mkdirSync(volume, { recursive: true }));

  /** Replaces the content of a volume as kubelet does: writes a new folder, and switches a link to it. */
  function publish(version: string, files: Readonly<Record<string, string>>): void {
    mkdirSync(path.join(volume, version));
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(path.join(volume, version, name), content);
      const link = path.join(volume, name);
      if (!existsSync(link)) symlinkSync(path.join('..data', name), link);
    }
    symlinkSync(version, path.join(volume, '..data_tmp'));
    renameSync(path.join(volume, '..data_tmp'), path.join(volume, '..data'));
  }
  const mounts = (...names: string[]): string[] =>
    names.flatMap((name) => ['--mount-file', `${path.join(volume, name)}=${name}`]);
  const words = (program: string, ...more: string[]) => [
    'cli',
    'prc',
    'run',
    '--path',
    program,
    ...more,
  ];
  const start = (...more: string[]): RunningProgram =>
    startWins(words(reader, ...more), workspace.environment);
  const refused = async (program: string, ...more: string[]) => {
    const { code, stdout, stderr } = await runWins(words(program, ...more), workspace.environment);
    expect(stdout.toString()).toBe('');
    return [code, stderr] as const;
  };
  const folderOf = (run: RunningProgram): string =>
    /^folder (.*) end$/m.exec(run.stdout())?.[1] ?? '';

  it('are there from its start, follow their volume, and are gone at its end', async () => {
    publish('..v1', { token: 'one', 'ca.crt': 'ca' });
    const run = start(...mounts('token', 'ca.crt'));
    await run.printed('[ca.crt=ca token=one]');
    const folder = folderOf(run);
    publish('..v2', { token: 'two', 'ca.crt': 'ca' });
    await run.printed('[ca.crt=ca token=two]');
    rmSync(path.join(volume, 'ca.crt'));
    await run.said('ca.crt: ');
    publish('..v3', { token: 'x'.repeat(63), 'ca.crt': 'ca' });
    await run.said('token: cannot give 65 bytes of files to a run');
    publish('..v4', { token: 'four', 'ca.crt': 'ca' });
    await run.printed('[ca.crt=ca token=four]');
    expect(existsSync(folder)).toBe(true);
    run.child.kill();
    const { stderr } = await run.outcome;
    expect(stderr).not.toContain('xxx');
    expect(existsSync(folder)).toBe(false);
    const shown = await runWins(
      ['srv', 'audit', 'show', '--config', config],
      workspace.environment,
    );
    const audit = shown.stdout.toString();
    expect(audit).toContain('token 3');
    expect(audit).toMatch(/updateFile +allowed .*files=\["token 4"\]/);
    expect(`${audit}${daemon.text}`).not.toMatch(/token=|four|xxx|Zm91cg/);
  });

  it('are gone after a daemon that was killed, once the next has started', async () => {
    writeFileSync(path.join(volume, 'token'), 'one');
    const run = start(...mounts('token'));
    await run.printed('[token=one]');
    const folder = folderOf(run);
    daemon.child.kill('SIGKILL');
    await Promise.all([daemon.outcome, run.outcome]);
    expect(existsSync(folder)).toBe(true);
    daemon = await Daemon.start(workspace, config);
    await until(() => !existsSync(folder));
  });

  it('are refused, and nothing runs, if the entry or the client does not allow them', async () => {
    writeFileSync(path.join(volume, 'token'), 'one');
    writeFileSync(path.join(volume, 'large'), 'x'.repeat(65));
    const token = path.join(volume, 'token');
    const large = await refused(reader, ...mounts('large'));
    expect(large).toEqual([126, expect.stringContaining('its entry allows 64')]);
    const ungranted = await refused(plain, ...mounts('token'));
    expect(ungranted).toEqual([126, expect.stringContaining('its entry does not grant them')]);
    for (const name of ['../token', 'NUL', 'a:b', '.token']) {
      const [code, stderr] = await refused(reader, '--mount-file', `${token}=${name}`);
      expect([code, stderr]).toEqual([125, expect.stringContaining('it is not a plain file name')]);
    }
    const absent = await refused(reader, ...mounts('none'));
    expect(absent).toEqual([127, expect.stringContaining('none: ')]);
    const word = await refused(reader, '--mount-file', token);
    expect(word).toEqual([125, expect.stringContaining('wanted PATH=NAME')]);
    const detached = await refused(reader, '--detach', ...mounts('token'));
    expect(detached).toEqual([
      125,
      expect.stringContaining('--mount-file cannot be combined with --detach'),
    ]);
    const listed = await runWins(['cli', 'prc', 'ls', '-o', 'name'], workspace.environment);
    expect(listed.stdout.toString()).toBe('');
  });

  it('are refused for a detached run by the daemon too, as nobody would renew them', async () => {
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    await using client = createWinsClient({ address: String(ready['address']) });
    const files = [{ name: 'token', content: Buffer.from('one') }];
    const request = { ...startRequest(reader), files, keep: { name: '', restart: '' } };
    await expect(client.startProcess(request)).rejects.toMatchObject({
      code: 'invalidRequest',
      reason: 'invalidArgument',
      details:
        'cannot start a detached run: its files could not be updated, because no client holds it',
    });
  });

  it('are never left out by a daemon of an earlier release: the program does not start', async () => {
    writeFileSync(path.join(volume, 'token'), 'one');
    const address = workspace.path('earlier');
    const started: unknown[] = [];
    const server = new Server();
    const { start: plainStart } = processServiceDefinition;
    const refuse = (call: unknown, done: sendUnaryData<unknown>): void => {
      started.push(call);
      done({ code: status.INTERNAL });
    };
    server.addService({ start: plainStart }, { start: refuse });
    const credentials = ServerCredentials.createInsecure();
    await promisify(server.bindAsync.bind(server))(`unix:${address}`, credentials);
    const [code, stderr] = await refused(reader, '--server', address, ...mounts('token'));
    expect([code, started]).toEqual([125, []]);
    expect(stderr).toContain('it may be an older release');
    server.forceShutdown();
  });
});
