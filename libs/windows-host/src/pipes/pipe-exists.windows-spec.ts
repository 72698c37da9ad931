import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { endProcess, isRunning, processesOf } from '../processes/windows-process.js';
import { pipeExists } from './secured-pipe-client.js';

describe('whether a pipe is served', () => {
  const address = `\\\\.\\pipe\\wins-spec-exists-${process.pid}`;

  it('is asked without a connection', async () => {
    assert.equal(pipeExists(address), false);
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    server.listen(address);
    await once(server, 'listening');
    for (let times = 0; times < 10; times += 1) assert.equal(pipeExists(address), true);
    server.close();
    await once(server, 'close');
    assert.equal(pipeExists(address), false);
    assert.equal(connections, 0);
  });
});

describe('the processes of a program', () => {
  it('are found by its path in any spelling, and can be ended', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1e8)']);
    await once(child, 'spawn');
    const other = process.execPath.toUpperCase().replaceAll('\\', '/');
    const found = processesOf(other).find(({ pid }) => pid === child.pid);
    assert.ok(found);
    endProcess(found);
    await once(child, 'exit');
    assert.equal(isRunning(found), false);
    assert.deepEqual(
      processesOf(process.execPath).filter(({ pid }) => pid === child.pid),
      [],
    );
    assert.deepEqual(processesOf('C:\\no\\such.exe'), []);
  });
});
