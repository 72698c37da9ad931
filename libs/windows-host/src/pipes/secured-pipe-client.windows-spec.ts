import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { ownIdentity } from '../processes/windows-process.js';
import { processAccount } from '../access/process-account.js';
import { securedPipeClient } from './secured-pipe-client.js';
import { securedPipe } from './secured-pipe.js';
import { advapi32 } from '../win32/advapi32.js';
import { kernel32 } from '../win32/kernel32.js';

let count = 0;
const freshAddress = (): string => `\\\\.\\pipe\\wins-client-${process.pid}-${(count += 1)}`;

async function served(body: (address: string, accepted: Socket[]) => Promise<void>): Promise<void> {
  const accepted: Socket[] = [];
  const address = freshAddress();
  const events = {
    accepted: (socket: Socket) => {
      accepted.push(socket.on('error', () => undefined));
      socket.pipe(socket);
    },
    failed: () => undefined,
  };
  const pipe = await securedPipe().open({ address }, events);
  try {
    await body(address, accepted);
  } finally {
    await pipe.close();
    for (const socket of accepted) socket.destroy();
  }
}

describe('a client that checks who serves the pipe', () => {
  it('speaks to a privileged server', async () => {
    await served(async (address) => {
      const socket = await securedPipeClient().open({ address });
      socket.write('hello');
      assert.equal(String(((await once(socket, 'data')) as [Buffer])[0]), 'hello');
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    });
  });

  it('lets the server identify it and no more, and does not ask for the right to serve', async (t) => {
    assert.ok(kernel32.CreateFileW);
    const open = t.mock.method(kernel32, 'CreateFileW');
    await served(async (address) => {
      (await securedPipeClient().open({ address })).destroy();
    });
    const [, access, share, , disposition, flags] = open.mock.calls[0]?.arguments ?? [];
    assert.deepEqual([access, share, disposition, flags], [0x12_019b, 0, 3, 0x4011_0000]);
  });

  it('says ENOENT when nobody is there, EBUSY and EACCES when the system says so', async (t) => {
    const address = freshAddress();
    await assert.rejects(securedPipeClient().open({ address }), { code: 'ENOENT' });
    for (const [errorNumber, code] of [
      [231, 'EBUSY'],
      [5, 'EACCES'],
    ] as const) {
      t.mock.method(kernel32, 'CreateFileW', () => -1);
      t.mock.method(kernel32, 'GetLastError', () => errorNumber);
      await assert.rejects(securedPipeClient().open({ address }), { code });
      t.mock.restoreAll();
    }
  });

  it('sends nothing to a server that an ordinary user runs, and closes the connection', async (t) => {
    await served(async (address, accepted) => {
      // Without groups in its token, the process is not an administrator.
      const { GetTokenInformation: read } = advapi32;
      t.mock.method(
        advapi32,
        'GetTokenInformation',
        (...[token, kind, out, size, used]: Parameters<typeof read>) =>
          kind === 2
            ? Number((out as Buffer).fill(0).length > 0)
            : read(token, kind, out, size, used),
      );
      await assert.rejects(securedPipeClient().open({ address }), {
        code: 'ERR_UNTRUSTED_PIPE_SERVER',
        message: /not trusted/,
      });
      while (accepted.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      const [server] = accepted;
      assert.ok(server !== undefined);
      if (!server.closed) await once(server, 'close');
      assert.equal(server.bytesRead, 0);
    });
  });

  it('speaks only to the given process, and not to a later one with its PID', async () => {
    await served(async (address) => {
      const own = ownIdentity();
      (await securedPipeClient({ process: own }).open({ address })).destroy();
      for (const other of [
        { ...own, pid: own.pid + 4 },
        { ...own, created: `${BigInt(own.created) + 1n}` },
      ]) {
        const refused = { code: 'ERR_UNTRUSTED_PIPE_SERVER', message: /wanted/ };
        await assert.rejects(securedPipeClient({ process: other }).open({ address }), refused);
      }
    });
  });

  it('does not trust a pipe whose server the system does not name', async (t) => {
    await served(async (address) => {
      t.mock.method(kernel32, 'GetNamedPipeServerProcessId', () => 0);
      await assert.rejects(securedPipeClient().open({ address }), {
        code: 'ERR_UNTRUSTED_PIPE_SERVER',
      });
    });
  });
});

describe('the account of a process', () => {
  it('is told for this one', () => {
    const { user, isPrivileged } = processAccount();
    assert.match(user, /^S-1-5-/);
    assert.equal(isPrivileged, true);
  });

  it('is not there for a process that is not', () => {
    assert.throws(() => processAccount(0xffff_fffc), { code: 'invalidArgument' });
  });
});
