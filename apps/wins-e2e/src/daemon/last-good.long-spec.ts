import { HealthStatus } from '@wins/wins-api/contract';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { healthOf } from '../testing/health-of.js';
import { until } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';

const TAKEN = 'config changed';
const STARTED_ON_LAST = 'config rejected; the daemon starts with the previous config';

/** Starts a daemon, and kills it once it has kept a copy of its config. */
async function servedOnce() {
  const workspace = new Workspace();
  const program = workspace.script('prog', 'exit 0');
  const text = `# mine\nlisten: ${workspace.path('pipe')}\nproxy: ${workspace.path('proxy')}\nwhite_list:\n  processPaths: [${program}]\n`;
  const config = workspace.write('config', text);
  const kept = workspace.path('config.history', 'served.000001.yaml');
  const daemon = await Daemon.start(workspace, config);
  await until(() => existsSync(kept));
  await daemon.stop('SIGKILL');
  const ask = (...args: string[]) => runWins([...args, '--config', config], workspace.environment);
  return {
    workspace,
    program,
    config,
    kept,
    text,
    ask,
    mayRun: async () => {
      const server = ['--server', workspace.path('pipe')];
      const run = ['cli', 'prc', 'run', ...server, '--path', program];
      return (await runWins(run, workspace.environment)).code === 0;
    },
    health: () => healthOf(workspace.path('pipe'), 'wins.ConfigService'),
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  };
}

describe('a daemon that cannot start with its file', () => {
  it('keeps the exact bytes that it serves with, for itself and administrators alone', async () => {
    using node = await servedOnce();
    const [header, ...rest] = readFileSync(node.kept, 'utf8').split('\n');
    expect(header).toMatch(/^# wins: \{"sha256":"[0-9a-f]{64}"\}$/);
    expect(rest.join('\n')).toBe(node.text);
    expect(statSync(node.kept).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(node.kept)).mode & 0o777).toBe(0o700);
  });

  it.each<[string, (config: string) => void, RegExp]>([
    ['is wrong', (file) => writeFileSync(file, 'white_list: ['), /config:1:/],
    [
      'is refused by the judge',
      (file) => writeFileSync(file, 'pipeAccess: Everyone\n'),
      /Everyone/,
    ],
    ['is empty', (file) => writeFileSync(file, ''), /is empty/],
    ['is gone', (file) => rmSync(file), /no such file/],
    [
      'may be written by others',
      (file) => {
        writeFileSync(file, 'white_list: {processPaths: [/bin/sh]}\n');
        chmodSync(file, 0o666);
      },
      /group or others can write/,
    ],
    [
      'is a folder',
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
      /a folder/,
    ],
  ])(
    'that %s serves with the previous config, says so, and accepts a corrected file',
    async (_what, spoil, why) => {
      using node = await servedOnce();
      const { workspace, config, program, ask } = node;
      spoil(config);
      await using daemon = await Daemon.start(workspace, config);
      const record = await daemon.logged(({ msg }) => msg === STARTED_ON_LAST);
      expect(record).toMatchObject({ level: 'error', keptIn: path.dirname(node.kept), config });
      expect(JSON.stringify(record)).toMatch(why);
      expect(await node.mayRun()).toBe(true);
      const events = await ask('srv', 'events', '-o', 'json');
      expect(events.stdout.toString()).toMatch(/configReloaded.*lastGood/s);
      if (!/empty/.test(why.source)) {
        const { code, stdout } = await ask('doctor');
        expect([code, stdout.toString()]).toEqual([
          2,
          expect.stringMatching(/^problem +config .*\n? *.*uses the previous config/m),
        ]);
        expect(stdout.toString()).toMatch(/accepts connections for gRPC/);
      }
      expect(await node.health()).toBe(HealthStatus.NOT_SERVING);
      rmSync(config, { recursive: true, force: true });
      workspace.write('config', `${node.text}debug: true\n`);
      await daemon.logged(({ msg }) => msg === TAKEN);
      expect(await node.health()).toBe(HealthStatus.SERVING);
      expect(await node.mayRun()).toBe(true);
      await daemon.stop();
      expect(readFileSync(node.kept, 'utf8')).not.toContain('debug: true');
      const next = workspace.path('config.history', 'served.000002.yaml');
      expect(readFileSync(next, 'utf8')).toContain('debug: true');
      expect(program).toContain(workspace.folder);
    },
  );

  it('takes the file when the problem was outside the file', async () => {
    using node = await servedOnce();
    const { workspace, config } = node;
    const logs = workspace.path('logs');
    mkdirSync(logs);
    chmodSync(logs, 0o777);
    writeFileSync(config, `${node.text}audit: {directory: ${logs}}\n`);
    await using daemon = await Daemon.start(workspace, config);
    await daemon.logged(({ msg }) => msg === STARTED_ON_LAST);
    chmodSync(logs, 0o700);
    await daemon.logged(({ msg }) => msg === TAKEN);
    expect(await node.health()).toBe(HealthStatus.SERVING);
  });

  it('does not start with a kept config that is exposed, cut short or invalid, and names the reason', async () => {
    using node = await servedOnce();
    const { workspace, config, kept, ask } = node;
    const good = readFileSync(kept);
    writeFileSync(config, 'white_list: [');
    const spoils: [() => void, RegExp][] = [
      [() => chmodSync(kept, 0o666), /history\/served\.000001\.yaml: found .*others can write/],
      [
        () => writeFileSync(kept, good.subarray(0, good.length - 3)),
        /found content that was changed/,
      ],
      [() => writeFileSync(kept, good.subarray(0, 20)), /found no digest in its first line/],
      [() => chmodSync(path.dirname(kept), 0o777), /others can write/],
    ];
    for (const [spoil, words] of spoils) {
      spoil();
      const { code, stderr } = await Daemon.launch(workspace, config).outcome;
      expect([code, stderr.replaceAll('\\"', '"')]).toEqual([78, expect.stringMatching(words)]);
      expect(stderr).toContain(`${config}:1:`);
      const examined = await ask('doctor');
      expect(examined.stdout.toString()).toMatch(
        /^problem +config .*kept copy of the config cannot be used/m,
      );
      expect(examined.stdout.toString()).toMatch(/the daemon cannot start with it/);
      writeFileSync(kept, good);
      chmodSync(kept, 0o600);
      chmodSync(path.dirname(kept), 0o700);
    }
    await using daemon = await Daemon.start(workspace, config);
    expect(daemon.text).toContain(STARTED_ON_LAST);
  });

  it('does not start the first time, and check, --register and the upgrade judge the file alone', async () => {
    using node = await servedOnce();
    const { workspace, config, ask } = node;
    writeFileSync(config, 'white_list: [');
    for (const words of [
      ['srv', 'config', 'check'],
      ['srv', 'app', 'run', '--register'],
    ])
      expect((await ask(...words)).code).toBe(78);
    const other = workspace.write('other', 'white_list: [');
    expect((await Daemon.launch(workspace, other).outcome).code).toBe(78);
  });
});
