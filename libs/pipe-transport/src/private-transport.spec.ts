import type { ClientIdentity } from '@wins/base';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { privateTransport } from './private-transport.js';

const CONTAINER: ClientIdentity = {
  key: 'container:c',
  isAdministrator: false,
  isEverybody: false,
  description: { container: 'c' },
  names: [],
};

describe('connections between the processes of one program', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'p-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function textFor(isAdministrator: boolean): Promise<string> {
    const address = path.join(folder, 's');
    const transport = privateTransport({ identify: () => ({ ...CONTAINER, isAdministrator }) });
    const listener = await transport.listen(address, (socket) => socket.end('hello'));
    const socket = await transport.connect(address, '1:1.p');
    let text = '';
    socket.on('data', (bytes) => (text += String(bytes))).on('error', () => undefined);
    await once(socket, 'close');
    await listener.close();
    return text;
  }

  it('serve administrators, and no other client if the system can tell', async () => {
    expect(await textFor(true)).toBe('hello');
    expect(await textFor(false)).toBe('');
  });

  it('trust only the process that is expected, if the system can tell', async () => {
    const address = path.join(folder, 's');
    const asked: string[] = [];
    const transport = privateTransport({
      serverCheck: (process) => {
        asked.push(process);
        const untrusted = Object.assign(new Error('another serves it'), {
          code: 'ERR_UNTRUSTED_PIPE_SERVER',
        });
        return { open: () => Promise.reject(untrusted) };
      },
    });
    const listener = await transport.listen(address, (socket) => socket.end('hello'));
    await expect(transport.connect(address, '1:1.p')).rejects.toMatchObject({
      code: 'securityUnavailable',
    });
    expect(asked).toEqual(['1:1.p']);
    await listener.close();
  });
});
