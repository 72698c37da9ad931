import { FLAG, FRAME, FrameClient, grpcMessage } from '@wins/http2-connection/testing';
import { createWinsClient } from '@wins/wins-api';
import { Daemon } from '../testing/daemon.js';
import { peakBytes, residentBytes } from '../testing/process-memory.js';
import { Workspace } from '../testing/workspace.js';

const MEGABYTE = 1024 * 1024;
const CONNECTIONS = 400;
const START = '/wins.ProcessService/Start';

describe('limits that multiply', () => {
  it('hold for all connections together: four hundred that each stay below their own limit take no 600 MiB', async () => {
    using workspace = new Workspace();
    await using daemon = await Daemon.start(workspace, workspace.config([]));
    const address = String((await daemon.logged(({ msg }) => msg === 'ready'))['address']);
    const other = createWinsClient({ address });
    await other.info();
    const before = residentBytes(daemon.child.pid);

    // Two incomplete messages hold 0.9 and 0.45 MiB of the 2 MiB that a connection may hold.
    const messages = [0.9, 0.45].map((size) =>
      grpcMessage(Buffer.alloc(MEGABYTE)).subarray(0, size * MEGABYTE),
    );
    const clients: FrameClient[] = [];
    const hold = async (): Promise<string> => {
      const client = await FrameClient.connect(address);
      clients.push(client);
      await client.greet();
      for (const [index, message] of messages.entries()) {
        const id = 1 + 2 * index;
        client.headers(id, FLAG.endHeaders, client.block(START));
        for (let at = 0; at < message.length; at += 16_384) {
          client.send(FRAME.data, 0, id, message.subarray(at, at + 16_384));
        }
      }
      // The daemon either accepts these messages, or ends this connection with `mostHeld`.
      return await client.ping('taken').then(
        () => 'taken',
        () => client.goaway(),
      );
    };
    for (let round = 0; round < CONNECTIONS / 20; round += 1) {
      for (const outcome of await Promise.all(Array.from({ length: 20 }, hold))) {
        expect(['taken', 'mostHeld']).toContain(outcome);
      }
    }
    const ended = clients.filter(({ frames }) => frames.some(({ type }) => type === FRAME.goaway));
    expect(ended.length).toBeGreaterThan(0);
    expect((await other.info()).version).toMatch(/^v/);
    // The daemon may hold 64 MiB, plus garbage that V8 has not collected yet.
    expect(peakBytes(daemon.child.pid) - before).toBeLessThan(256 * MEGABYTE);

    for (const client of clients) client[Symbol.dispose]();
    await other.close();
  });
});
