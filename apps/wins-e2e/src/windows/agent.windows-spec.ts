import { dockerArchive, tarOf } from '@wins/system-agent/testing';
import { fileSecurity, serviceControlManager } from '@wins/windows-host';
import { parseSecurityDescriptor } from '@wins/base';
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { isAlive, until, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';
const EVERYONE = 'S-1-1-0';
const IMAGE = 'local/installer:v1';
const ARGUMENTS = ['-NoProfile', '-Command', '& { "a b" }', 'C:\\tail\\', '%PATH%', ''];

describe('the service with the plans of its node', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const [open, closed] = [workspace.path('etc', 'open'), workspace.path('etc', 'closed')];
  const [told, pids] = [workspace.path('told.json'), workspace.path('pids')];
  const listed = workspace.path('listed.json');
  const tool = workspace.program('tool');
  const tell = workspace.script(
    'tell',
    `require('node:fs').writeFileSync(process.env.TOLD, JSON.stringify({
      args: process.argv.slice(2), pwd: process.env.CATTLE_AGENT_EXECUTION_PWD, cwd: process.cwd() }));`,
  );
  const stay = workspace.script(
    'stay',
    `const wait = ['-e', 'setInterval(() => {}, 1e6)'];
    const child = require('node:child_process').spawn(process.execPath, wait, { stdio: 'ignore' });
    require('node:fs').writeFileSync(process.env.PIDS, process.pid + ' ' + child.pid);
    setInterval(() => {}, 1e6);`,
  );
  const agent = (name: string) => workspace.path('agent', name);
  /** Returns a path without its drive, as in a setting that Linux and Windows nodes share. */
  const ofCluster = (file: string) =>
    file.toLowerCase().startsWith(`${process.env['SystemDrive'] ?? 'c:'}\\`.toLowerCase())
      ? file.slice(2).replaceAll('\\', '/')
      : file;
  const config = workspace.config([], [], {
    systemagent: {
      localEnabled: true,
      workDirectory: ofCluster(agent('work')),
      appliedPlanDirectory: agent('applied'),
      localPlanDirectory: ofCluster(agent('plans')),
      imagesDirectory: agent('images'),
    },
  });
  workspace.write(
    'agent/plans/node.plan',
    JSON.stringify({
      files: [
        { path: ofCluster(open), content: base64('open'), permissions: '0644' },
        { path: closed, content: base64('closed') },
      ],
      instructions: [
        { name: 'tell', command: tool, args: [tell, ...ARGUMENTS], env: [`TOLD=${told}`] },
        {
          name: 'list',
          image: IMAGE,
          command: tool,
          args: ['list.cjs'],
          env: [`LISTED=${listed}`],
        },
        { name: 'stay', command: tool, args: [stay], env: [`PIDS=${pids}`] },
      ],
    }),
  );
  const running = () => readFileSync(pids, 'utf8').split(' ').map(Number);
  const mayEveryone = (file: string) =>
    parseSecurityDescriptor(fileSecurity(file)).entries?.some(({ sid }) => sid === EVERYONE);

  before(async () => {
    // Fail if the service already exists, as on a real node, because the tests would replace it.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
    const layer = await tarOf([
      {
        name: 'Files/bin/list.cjs',
        content: `const { readdirSync, writeFileSync } = require('node:fs');
          writeFileSync(process.env.LISTED, JSON.stringify(readdirSync('.').sort()));`,
      },
      { name: 'Files/bin/installer.ps1', content: '' },
      { name: 'Files/Windows/other.txt', content: '' },
      { name: 'Hives/SYSTEM_Delta', content: '' },
    ]);
    workspace.write('agent/images/installer.tar', '');
    writeFileSync(agent('images/installer.tar'), await dockerArchive(IMAGE, [layer]));
    const words = ['srv', 'app', 'run', '--config', config, '--register'];
    const { code, stderr } = await workspace.run(...words);
    assert.equal(code, 0, stderr);
    await services.start(NAME);
    await until(() => existsSync(pids) && readFileSync(pids, 'utf8').includes(' '));
  });
  after(async () => {
    await workspace.run('srv', 'app', 'run', '--unregister');
    await workspace.remove();
  });

  it('has files with the access lists that their modes mean', () => {
    assert.equal(readFileSync(open, 'utf8'), 'open');
    assert.equal(mayEveryone(open), true);
    assert.equal(readFileSync(closed, 'utf8'), 'closed');
    assert.equal(mayEveryone(closed), false);
  });

  it('has handed the arguments of an instruction over as they are, in a folder of its own', () => {
    const { args, pwd, cwd } = JSON.parse(readFileSync(told, 'utf8')) as Record<string, unknown>;
    assert.deepEqual(args, ARGUMENTS);
    assert.equal(cwd, pwd);
  });

  it('has unpacked of an image what is in Files/bin, into the folder of the instruction', () => {
    assert.deepEqual(JSON.parse(readFileSync(listed, 'utf8')), ['installer.ps1', 'list.cjs']);
  });

  it('ends the whole tree of an instruction when it stops', async () => {
    const before = running();
    assert.deepEqual(before.map(isAlive), [true, true]);
    await services.stop(NAME);
    await until(() => before.every((pid) => !isAlive(pid)));
  });
});
