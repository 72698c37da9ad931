import { once } from 'node:events';
import { connect } from 'node:net';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';
import { drainsRuns } from './drained-runs.js';

describe('the daemon', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = new Workspace();
  });
  afterEach(() => workspace[Symbol.dispose]());
  const info = () => runWins(['cli', 'app', 'info'], workspace.environment);

  it('survives clients that connect and vanish, send garbage, or say nothing', async () => {
    await using daemon = await Daemon.start(workspace, workspace.config([]));
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    const address = String(ready['address']);
    for (const bytes of [
      '',
      'GET / HTTP/1.1\r\n\r\n',
      '\0'.repeat(70_000),
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxxxxxxxxxxxxxxx',
    ]) {
      const socket = connect(address);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.end(bytes);
      socket.resume();
      await once(socket, 'close');
    }
    // The daemon closes these connections at the deadline of their handshake.
    for (const bytes of ['', 'P', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']) {
      const silent = connect(address);
      silent.write(bytes);
      silent.resume();
      await once(silent, 'close');
    }
    expect((await info()).code).toBe(0);
  });

  it('drains a hundred runs and their clients when told to end', () => drainsRuns(workspace, 100));
});
