import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { kernel32 } from '../win32/kernel32.js';
import {
  listProcesses,
  creationTime,
  endProcess,
  imageOf,
  isRunning,
  ownIdentity,
  processStartedAtMs,
  sessionStart,
  withProcess,
  type ProcessIdentity,
} from './windows-process.js';

async function started(): Promise<{ identity: ProcessIdentity; exited: Promise<unknown[]> }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(()=>{},1e6)'], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  return { identity: { pid, created: withProcess(pid, 0, creationTime) ?? '' }, exited };
}

describe('a process', () => {
  it('is known by its number and the time of its creation', async () => {
    const { identity, exited } = await started();
    assert.equal(isRunning(identity), true);
    assert.equal(isRunning({ ...identity, created: '1' }), false);
    endProcess({ ...identity, created: '1' });
    assert.equal(isRunning(identity), true);
    endProcess(identity);
    assert.deepEqual(await exited, [1, null]);
    assert.equal(isRunning(identity), false);
    endProcess(identity);
  });

  it('is in a session that began before it, and one without processes has no beginning', () => {
    const session: [number] = [0];
    assert.notEqual(kernel32.ProcessIdToSessionId(process.pid, session), 0);
    const start = BigInt(sessionStart(session[0]) ?? 0);
    assert.ok(start > 0n && start <= BigInt(ownIdentity().created));
    assert.equal(sessionStart(0xffff_0000), undefined);
  });

  it('is this one, with its program', () => {
    const own = ownIdentity();
    assert.equal(own.pid, process.pid);
    assert.match(own.created, /^1[0-9]{17}$/);
    assert.equal(isRunning(own), true);
    assert.equal(withProcess(own.pid, 0, imageOf), process.execPath);
  });

  it('has begun at a time of the clock', async () => {
    const before = Date.now();
    const { identity, exited } = await started();
    const startedAt = processStartedAtMs(identity.pid) ?? 0;
    // Node and Windows read the clock at different resolutions.
    assert.ok(startedAt > before - 100 && startedAt < Date.now() + 100, `${startedAt - before} ms`);
    endProcess(identity);
    await exited;
    assert.equal(processStartedAtMs(0x7fff_fff0), undefined);
  });

  it('is in the table, with what started it', async () => {
    const { identity, exited } = await started();
    const entry = listProcesses().get(identity.pid);
    assert.equal(entry?.parentPid, process.pid);
    assert.equal(entry.created, identity.created);
    assert.equal(entry.image, process.execPath);
    endProcess(identity);
    await exited;
  });

  it('is none when there is none of its number', () => {
    assert.equal(isRunning({ pid: 0x7fff_fff0, created: '1' }), false);
    assert.equal(withProcess(0x7fff_fff0, 0, imageOf), undefined);
  });
});
