import { openFile, type OwnedHandle } from '../win32/calls/call.js';
// Longer than most files, because it lists all guarantees of a pipe.
import { grantsTheSame, parseSecurityDescriptor, type PipeEndpoint } from '@wins/base';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { descriptorFromText, securityAttributes } from '../access/file-security.js';
import { pipeAccess } from './secured-pipe-client.js';
import { securedPipe, type SecuredPipeOptions } from './secured-pipe.js';
import { systemLibrary } from '../win32/calls/system-library.js';
import { handlesInUse } from '../testing/handles-in-use.js';
import {
  FILE_FLAG_OVERLAPPED,
  GENERIC_READ,
  GENERIC_WRITE,
  INVALID_HANDLE_VALUE,
  kernel32,
  SECURITY_SQOS_PRESENT,
} from '../win32/kernel32.js';

let count = 0;
const freshAddress = (): string => `\\\\.\\pipe\\wins-secured-${process.pid}-${(count += 1)}`;

interface Served {
  readonly address: string;
  readonly accepted: Socket[];
  readonly failures: unknown[];
  readonly close: () => Promise<void>;
}

async function serve(
  options: SecuredPipeOptions = {},
  receive: (socket: Socket) => void = echo,
): Promise<Served> {
  const address = freshAddress();
  const accepted: Socket[] = [];
  const failures: unknown[] = [];
  const pipe = await securedPipe(options).open(
    { address },
    {
      accepted: (socket) => {
        accepted.push(socket);
        receive(socket);
      },
      failed: (error) => failures.push(error),
    },
  );
  open.push(pipe);
  return { address, accepted, failures, close: () => pipe.close() };
}

/** A pipe that a failed test leaves open would keep the process alive. */
const open: PipeEndpoint[] = [];
afterEach(async () => {
  for (const pipe of open.splice(0)) await pipe.close();
});

function echo(socket: Socket): void {
  socket.on('error', () => undefined).on('data', (chunk) => socket.write(chunk));
}

async function exchange(address: string, text: string): Promise<string> {
  const client = connect(address);
  client.write(text);
  const [answer] = (await once(client, 'data')) as [Buffer];
  const closed = once(client, 'close');
  client.destroy();
  await closed;
  return String(answer);
}

async function attempt(address: string): Promise<string> {
  const client = connect(address);
  try {
    await once(client, 'connect');
    return 'open';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'no code';
  } finally {
    client.destroy();
  }
}

function openAsClient(address: string): OwnedHandle {
  const access = GENERIC_READ | GENERIC_WRITE;
  return openFile('opened it', address, { access, share: 0, flags: FILE_FLAG_OVERLAPPED });
}

/** Waits for a condition that no event reports. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Makes `CreateNamedPipeW` fail with `errorNumber`, from the call with index `from` on. */
function failCreate(t: TestContext, from: number, errorNumber: number): { stop(): void } {
  const { CreateNamedPipeW: create } = kernel32;
  let calls = 0;
  let isOver = false;
  const { GetLastError: last } = kernel32;
  let isFailure = false;
  t.mock.method(kernel32, 'CreateNamedPipeW', (...args: Parameters<typeof create>) => {
    isFailure = !isOver && (calls += 1) > from;
    return isFailure ? INVALID_HANDLE_VALUE : create(...args);
  });
  t.mock.method(kernel32, 'GetLastError', () => {
    const found = isFailure ? errorNumber : last();
    isFailure = false;
    return found;
  });
  return { stop: () => void (isOver = true) };
}

describe('a secured pipe', () => {
  it('is an overlapped byte pipe for local clients, with no other owner, and with its descriptor from the first instance on', async (t) => {
    assert.ok(kernel32.CreateNamedPipeW);
    const create = t.mock.method(kernel32, 'CreateNamedPipeW');
    const { address, close } = await serve();
    await close();
    const [first, ...others] = create.mock.calls.map(({ arguments: args }) => args);
    assert.equal(others.length, 7);
    assert.deepEqual(first?.slice(0, 7), [address, 0x4008_0003, 8, 255, 256 * 1024, 64 * 1024, 0]);
    const descriptor = descriptorFromText('O:BAD:P(A;;GA;;;BA)(A;;GA;;;SY)');
    for (const args of others) {
      assert.deepEqual(args.slice(0, 7), [address, 0x4000_0003, 8, 255, 256 * 1024, 64 * 1024, 0]);
      assert.ok((args[7] as Buffer).subarray(24).equals(descriptor));
    }
    assert.ok((first[7] as Buffer).subarray(24).equals(descriptor));
  });

  it('carries the access list, as its clients can see without saying who they are', async (t) => {
    const sddl = 'D:P(A;;GA;;;SY)(A;;GA;;;BA)(A;;GRGW;;;BU)';
    const { address, close } = await serve({ sddl });
    assert.ok(kernel32.CreateFileW);
    const opened = t.mock.method(kernel32, 'CreateFileW');
    const found = pipeAccess(address);
    await close();
    assert.equal(opened.mock.calls[0]?.arguments[5], SECURITY_SQOS_PRESENT);
    assert.ok(grantsTheSame(parseSecurityDescriptor(found), parseSecurityDescriptor(sddl)), found);
    assert.equal(parseSecurityDescriptor(found).owner, 'S-1-5-32-544');
  });

  it('serves with every kind of access list', async () => {
    const base = 'D:P(A;;GA;;;BA)(A;;GA;;;SY)';
    const service = 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464';
    for (const sddl of [
      base,
      `O:BA${base}`,
      `O:SYG:SY${base}`,
      'D:(A;;GA;;;SY)(A;;GA;;;BA)',
      `${base}(A;;0x12019b;;;S-1-5-21-1-2-3-1001)`,
      `${base}(A;;0x12019b;;;${service})`,
      `${base}(A;;GRGW;;;AU)`,
      'D:P(D;;GA;;;BG)(A;;GA;;;SY)(A;;GA;;;BA)(A;;GA;;;WD)',
    ]) {
      const { address, close } = await serve({ sddl });
      assert.equal(await exchange(address, sddl), sddl);
      await close();
    }
  });

  it('does not serve if its access list differs from the expected one', async (t) => {
    const { CreateNamedPipeW: create } = kernel32;
    for (const sddl of ['O:BAD:(A;;GA;;;WD)', 'O:SYD:P(A;;GA;;;BA)(A;;GA;;;SY)']) {
      const descriptor = descriptorFromText(sddl);
      const other = securityAttributes(descriptor);
      const addresses: string[] = [];
      t.mock.method(kernel32, 'CreateNamedPipeW', (...args: Parameters<typeof create>) => {
        addresses.push(args[0] ?? '');
        return create(args[0], args[1], args[2], args[3], args[4], args[5], args[6], other);
      });
      await assert.rejects(serve(), {
        code: 'notVerified',
        message: /wanted O:BAD:P\(A;;GA;;;BA\)/,
      });
      assert.equal(await attempt(addresses[0] ?? ''), 'ENOENT');
      t.mock.restoreAll();
    }
  });

  it('says EADDRINUSE when the system denies it the first instance', async (t) => {
    for (const errorNumber of [5, 231]) {
      failCreate(t, 0, errorNumber);
      await assert.rejects(serve(), { code: 'EADDRINUSE', message: /another process serves it/ });
      t.mock.restoreAll();
    }
  });

  it('says EACCES when the system denies it the second instance, and leaves nothing', async (t) => {
    failCreate(t, 1, 5);
    const before = count;
    await assert.rejects(serve(), { code: 'EACCES', message: /elevated/ });
    const address = `\\\\.\\pipe\\wins-secured-${process.pid}-${before + 1}`;
    assert.equal(await attempt(address), 'ENOENT');
  });

  it('says EACCES when the system does not let it give the pipe to Administrators', async (t) => {
    failCreate(t, 0, 1307);
    await assert.rejects(serve(), { code: 'EACCES', message: /elevated/ });
  });

  it('says what the system said of anything else', async (t) => {
    failCreate(t, 0, 123);
    await assert.rejects(serve(), { code: 'invalidArgument', symbol: 'ERROR_INVALID_NAME' });
  });

  it('lets in more clients at once than instances wait', async () => {
    const { address, close, failures } = await serve();
    const texts = Array.from({ length: 40 }, (_, index) => `client ${index}`);
    assert.deepEqual(await Promise.all(texts.map((text) => exchange(address, text))), texts);
    await close();
    assert.deepEqual(failures, []);
  });

  it('frees the name on close, whatever is going on, and again and again', async () => {
    const { address, accepted, close } = await serve();
    const clients = Array.from({ length: 12 }, () => connect(address));
    for (const client of clients) client.on('error', () => undefined);
    await until(() => accepted.length > 0);
    const closing = close();
    assert.equal(close(), closing);
    await closing;
    for (const socket of [...accepted, ...clients]) socket.destroy();
    await until(() => [...accepted, ...clients].every((socket) => socket.closed));
    assert.equal(await attempt(address), 'ENOENT');
    const events = { accepted: echo, failed: () => undefined };
    const again = await securedPipe().open({ address }, events);
    assert.equal(await exchange(address, 'again'), 'again');
    await again.close();
  });

  it('goes on, with the name in its hands, when an instance cannot be replaced', async (t) => {
    const { address, accepted, failures, close } = await serve();
    const failing = failCreate(t, 0, 8);
    const client = connect(address);
    client.on('error', () => undefined).resume();
    await until(() => client.closed);
    assert.equal(accepted.length, 0);
    assert.equal((failures[0] as { symbol?: string }).symbol, 'ERROR_NOT_ENOUGH_MEMORY');
    failing.stop();
    const texts = Array.from({ length: 8 }, (_, index) => `client ${index}`);
    assert.deepEqual(await Promise.all(texts.map((text) => exchange(address, text))), texts);
    await close();
    assert.equal(failures.length, 1);
  });

  it('closes while instances rest', async (t) => {
    const { address, failures, close } = await serve();
    failCreate(t, 0, 8);
    const client = connect(address);
    client.on('error', () => undefined).resume();
    await until(() => failures.length > 0);
    await close();
    client.destroy();
  });

  it('is a pipe of bytes for clients that ask for messages, as those of the original do not', async () => {
    const { SetNamedPipeHandleState: setMode, GetNamedPipeInfo: info } = systemLibrary(
      'kernel32.dll',
      'Windows',
      [
        'int SetNamedPipeHandleState(intptr_t pipe, void *mode, void *max, void *timeout)',
        'int GetNamedPipeInfo(intptr_t pipe, _Out_ uint32_t *flags, void *a, void *b, void *c)',
      ],
    );
    const { address, close } = await serve();
    const client = openAsClient(address);
    const flags: [number] = [-1];
    assert.notEqual(info(client.value, flags, null, null, null), 0);
    // Neither PIPE_SERVER_END nor PIPE_TYPE_MESSAGE.
    assert.equal(flags[0], 0);
    const messages = Buffer.alloc(128);
    messages.writeUInt32LE(2, 0);
    assert.equal(setMode(client.value, messages, null, null), 0);
    const bytes = Buffer.alloc(128);
    assert.notEqual(setMode(client.value, bytes, null, null), 0);
    client.close();
    await close();
  });

  it('holds nothing after many clients that connected and closed at once', async () => {
    const round = async (clients: number): Promise<number> => {
      const { address, accepted, close } = await serve();
      for (let index = 0; index < clients; index += 1) assert.equal(await attempt(address), 'open');
      assert.equal(await exchange(address, 'still here'), 'still here');
      await close();
      for (const socket of accepted) socket.destroy();
      await until(() => accepted.every((socket) => socket.closed));
      await new Promise((resolve) => setImmediate(resolve));
      return handlesInUse();
    };
    await round(20);
    const before = await round(20);
    await round(200);
    // Pipes that just ended may still be closing.
    await until(() => handlesInUse() <= before);
  });
});
