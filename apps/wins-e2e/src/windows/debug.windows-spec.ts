import { eventAccess, listenToEvent, pipeAccess, serviceControlManager } from '@wins/windows-host';
import { grantsTheSame, parseSecurityDescriptor } from '@wins/base';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { serviceLogFolders, until, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';
/** Access list in the config. It lets all users open every pipe except the administrators' pipe. */
const FOR_USERS = 'D:P(A;;GA;;;BA)(A;;GA;;;SY)(A;;0x12019b;;;BU)';

function assertGrants(found: string, wanted: string): void {
  const same = grantsTheSame(parseSecurityDescriptor(found), parseSecurityDescriptor(wanted));
  assert.ok(same, found);
}

describe('the pipe of administrators on Windows', () => {
  const workspace = new WindowsWorkspace();
  after(() => workspace.remove());

  it('is for administrators and SYSTEM alone, even if others may open the other pipes (A78)', async () => {
    const config = workspace.config([], [], { pipeAccess: FOR_USERS });
    const daemon = workspace.start('srv', 'app', 'run', '--config', config);
    await daemon.said('"msg":"ready"');
    assertGrants(pipeAccess(`\\\\.\\pipe\\${workspace.listen}`), FOR_USERS);
    const admin = `\\\\.\\pipe\\${workspace.listen}_admin`;
    assertGrants(pipeAccess(admin), 'D:P(A;;FA;;;BA)(A;;FA;;;SY)');
    daemon.child.kill('SIGKILL');
    await daemon.outcome;
  });
});

describe('the stacks of the service', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const config = workspace.config([]);
  const dumps = (): string[] =>
    serviceLogFolders().flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.stacks.log'))
        .map((name) => path.join(folder, name)),
    );
  const removeDumps = (): void => {
    for (const file of dumps()) rmSync(file);
  };

  before(() => {
    // Refuses to run on a real node, because the tests would replace its service.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
    removeDumps();
  });
  after(async () => {
    await workspace.run('srv', 'app', 'run', '--unregister');
    removeDumps();
    await workspace.remove();
  });

  it('are written beside its logs when a caller in the access list of its event signals it (A81)', async () => {
    const registered = await workspace.run('srv', 'app', 'run', '--config', config, '--register');
    assert.equal(registered.code, 0, registered.stderr);
    const { pid } = await services.start(NAME);
    const event = `Global\\stackdump-${pid}`;
    // The system may report the rights of an event in another notation, so compare only the accounts that have them.
    const { entries = [] } = parseSecurityDescriptor(eventAccess(event));
    assert.deepEqual(entries.map(({ type, sid }) => [type, sid]).sort(), [
      ['A', 'S-1-5-18'],
      ['A', 'S-1-5-32-544'],
    ]);
    const taken = { name: event, sddl: FOR_USERS, signalled: () => Promise.resolve() };
    assert.throws(() => listenToEvent({ ...taken, failed: () => undefined }), {
      code: 'alreadyExists',
    });
    const { code, stdout, stderr } = await workspace.run('stackdump');
    assert.equal(code, 0, stderr);
    const name = `rancher-wins.${pid}.stacks.log`;
    assert.ok(String(stdout).includes(name), String(stdout));
    await until(() => dumps().length > 0);
    const [file = ''] = dumps();
    assert.equal(path.basename(file), name);
    const text = readFileSync(file, 'utf8');
    assert.match(text, /stacks of the JavaScript thread within 1 s/);
    assert.doesNotMatch(text, /environmentVariables|commandLine/);
  });

  it('are asked of a service that runs', async () => {
    await services.stop(NAME);
    const { code, stderr } = await workspace.run('stackdump');
    assert.equal(code, 69, stderr);
  });
});
