import { connectPipe } from '@wins/pipe-transport';
import { Keeper } from '@wins/process-manager';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixProcessHost } from '../../posix.js';
import { CONTAINER } from '../../testing/client-identities.js';
import { keeperTransport } from './keeper-transport.js';

describe('a keeper of this system', () => {
  it('serves administrators of the host alone, if the system identifies callers', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'k-'));
    const transport = keeperTransport({ identify: () => CONTAINER });
    const host = posixProcessHost();
    const closed = new Keeper({ stateDirectory: folder, host, release: 'r', transport });
    try {
      await closed.listen();
      const { socket, token } = closed.record;
      const client = await connectPipe(socket);
      let answer = '';
      client.on('data', (bytes) => (answer += String(bytes))).on('error', () => undefined);
      const gone = new Promise((resolve) => client.once('close', resolve));
      const hello = JSON.stringify({ kind: 'hello', protocol: 2, token });
      const length = Buffer.alloc(4);
      length.writeUInt32BE(hello.length);
      client.write(Buffer.concat([length, Buffer.from(hello)]));
      await gone;
      expect(answer).toBe('');
    } finally {
      closed.endAll();
      await closed.over;
      await closed.close();
      rmSync(folder, { recursive: true });
    }
  });
});
