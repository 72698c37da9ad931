import type { KeeperTransport } from '@wins/process-manager';
import { connectPipe, listenPipe } from '@wins/pipe-transport';
import { randomBytes } from 'node:crypto';
import type { DaemonSystem } from '../../operating-system.js';

/** Keepers serve administrators of the host alone: on Windows by a pipe that only they may open, elsewhere by a socket in a private folder. */
export function keeperTransport({
  adminPipe,
  identify,
  detachedProcesses,
}: Partial<Pick<DaemonSystem, 'adminPipe' | 'identify' | 'detachedProcesses'>>): KeeperTransport {
  const clients = adminPipe?.identify ?? identify;
  return {
    ...(adminPipe && {
      newAddress: () => `rancher_wins_keeper_${randomBytes(16).toString('hex')}`,
    }),
    listen: (address, onConnection) =>
      listenPipe(address, {
        security: adminPipe?.security,
        identify: clients,
        maxConnections: 8,
        onConnection: (socket, client) => {
          // Third barrier against other users, after the private folder and the token in it.
          if (clients !== undefined && !client.isAdministrator) socket.destroy();
          else onConnection(socket);
        },
      }),
    connect: (address, keeper) =>
      connectPipe(address, { security: detachedProcesses?.serverCheck(keeper) }),
  };
}
