import { connectPipe } from '@wins/pipe-transport';
import { pipeAccess, securedPipeClient, serviceControlManager } from '@wins/windows-host';
import { createWinsClient } from '@wins/wins-api';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { until, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';

describe('an administrator at the console or over RDP', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const kept = workspace.program('kept');
  const script = workspace.script('kept', "setInterval(() => console.log('up'), 500);");
  const more = {
    keep: [{ name: 'kept', path: kept, args: [script] }],
    metrics: { listen: '127.0.0.1:0' },
    systemagent: { localEnabled: true },
  };
  const config = workspace.config([], [], more);
  const admin = `${workspace.listen}_admin`;
  const wins = (...words: string[]) => workspace.run(...words, '--config', config);
  async function answers(code: number, said: RegExp, ...words: string[]): Promise<void> {
    const { code: found, stdout, stderr } = await wins(...words);
    const text = `${String(stdout)}${stderr}`;
    assert.deepEqual([found, said.test(text)], [code, true], text);
  }

  before(async () => {
    // Refuses to run on a real node: the tests would replace its service.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
    const { code, stderr } = await wins('srv', 'app', 'run', '--register');
    assert.equal(code, 0, stderr);
    await services.start(NAME);
  });
  after(async () => {
    await workspace.run('srv', 'app', 'run', '--unregister');
    await workspace.remove();
  });

  it('is in a session other than 0, where the main pipe recognises no administrator', async () => {
    const dial = () => connectPipe(workspace.listen, { security: securedPipeClient() });
    await using client = createWinsClient({ address: workspace.listen, dial });
    await assert.rejects(client.config.reload(), { reason: 'notAdministrator' });
  });

  it('has every command of administrators by their own pipe', async () => {
    await answers(0, /is in force; /, 'srv', 'config', 'reload');
    await answers(0, / started /, 'srv', 'events');
    await answers(0, /^wins_build_info\{/m, 'srv', 'metrics');
    await answers(0, /\S/, 'srv', 'plan', 'status');
    await answers(0, /^csi-proxy is not managed: /, 'srv', 'csi-proxy', 'status');
    await answers(
      0,
      /^stacks of the JavaScript thread/,
      'srv',
      'debug',
      'stacks',
      '--seconds',
      '0.1',
    );
  });

  it('sees, follows and removes detached runs of others, even across a restart of the daemon', async () => {
    const prc = (...words: string[]) => workspace.client('prc', ...words);
    const listed = await prc('ls', '--detached', '-o', 'name').outcome;
    assert.equal(String(listed.stdout).trim(), 'keep:kept', listed.stderr);
    const follower = prc('attach', 'keep:kept');
    await follower.printed('up');
    await services.stop(NAME);
    await services.start(NAME);
    const seen = follower.stdout().length;
    await until(() => follower.stdout().length > seen);
    const logs = await prc('logs', 'keep:kept', '--tail', '1').outcome;
    assert.match(String(logs.stdout), /^up\r?\n/, logs.stderr);
    const removed = await prc('rm', 'keep:kept').outcome;
    assert.equal(removed.code, 0, removed.stderr);
    assert.notEqual((await follower.outcome).code, 127);
    const unknown = await prc('logs', 'keep:kept').outcome;
    assert.equal(unknown.code, 127, unknown.stderr);
  });

  it('hears from the doctor what only administrators are told, and gets a whole bundle', async () => {
    const { stdout } = await wins('doctor', '--output', 'json');
    const { findings } = JSON.parse(String(stdout)) as {
      findings: { check: string; found: string }[];
    };
    const told = findings.map(({ found }) => found);
    assert.ok(
      told.some((found) => found.startsWith(`${admin} accepts connections for administrators`)),
      told.join('\n'),
    );
    assert.ok(told.some((found) => found.startsWith('config ')));
    assert.deepEqual(
      told.filter((found) => found.startsWith('cannot determine')),
      [],
    );
    const file = workspace.path('bundle.tar.gz');
    const bundle = await wins('support-bundle', file, '--output', 'json');
    const { members } = JSON.parse(String(bundle.stdout)) as {
      members: { name: string; isFailure: boolean }[];
    };
    const made = members.filter(({ isFailure }) => !isFailure).map(({ name }) => name);
    for (const name of ['events.jsonl', 'metrics.txt', 'features.json', 'status.html'])
      assert.ok(made.includes(name), JSON.stringify(members));
    const page = workspace.path('status.html');
    await wins('status', '--html', page);
    assert.match(
      readFileSync(page, 'utf8'),
      /^<!doctype html>[^]*The daemon of this node has told its state/,
    );
  });

  it('is answered on that pipe alone, which stays while diagnosis is off', async () => {
    workspace.config([], [], { ...more, debugPipe: false });
    await answers(0, /is in force; /, 'srv', 'config', 'reload');
    await answers(69, /set debugPipe: true/, 'srv', 'debug', 'handles');
    assert.match(pipeAccess(`\\\\.\\pipe\\${admin}`), /;;;BA\)/);
    await services.stop(NAME);
    await answers(
      69,
      new RegExp(`on pipe "${admin}" or "${workspace.listen}": no daemon answers`),
      'srv',
      'config',
      'reload',
    );
  });
});
