/** Connections of daemons and keepers within this process. */
import type { KeeperTransport } from '@wins/process-manager';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Returns a transport whose addresses exist in this process only. */
export function memoryTransport(): KeeperTransport {
  const listeners = new Map<string, (socket: Socket) => void>();
  return {
    listen: (address, onConnection) => {
      const ends = new Set<Duplex>();
      listeners.set(address, (end) => {
        ends.add(end.once('close', () => ends.delete(end)));
        onConnection(end);
      });
      const close = (): Promise<void> => {
        listeners.delete(address);
        for (const end of ends) end.destroy();
        return Promise.resolve();
      };
      return Promise.resolve({ close });
    },
    connect: async (address) => {
      const onConnection = listeners.get(address);
      if (onConnection === undefined) throw new Error(`nothing listens at ${address}`);
      const [one, other] = pair();
      onConnection(other);
      await Promise.resolve();
      return one;
    },
  };
}

/** Returns the two ends of a connection. Bytes arrive, and an end closes, in the order in which that was requested. */
function pair(): readonly [Socket, Socket] {
  const ends: Duplex[] = [];
  for (const number of [0, 1]) {
    const other = (): Duplex => ends[1 - number] as Duplex;
    ends.push(
      new Duplex({
        allowHalfOpen: false,
        read: () => undefined,
        write: (chunk: Buffer, _encoding, done) => {
          if (!other().destroyed) other().push(chunk);
          done();
        },
        final: (done) => {
          if (!other().destroyed) other().push(null);
          done();
        },
        destroy: (error, done) => {
          setImmediate(() => other().destroy());
          done(error);
        },
      }),
    );
  }
  // Keepers and daemons use a connection as a stream alone.
  return ends as unknown as readonly [Socket, Socket];
}
