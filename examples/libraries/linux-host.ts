import { mkdtemp } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { linuxClients, LinuxError } from '@wins/linux-host';

const address = path.join(await mkdtemp(path.join(tmpdir(), 'example-')), 'socket');
try {
  const identify = linuxClients();
  const server = createServer((socket) => {
    const { description, isAdministrator } = identify(socket);
    console.log(description.pid === process.pid, isAdministrator);
    socket.destroy();
    server.close();
  });
  server.listen(address, () => connect(address));
} catch (error) {
  if (!(error instanceof LinuxError)) throw error;
  console.log(error.code); // on other systems than Linux
}
