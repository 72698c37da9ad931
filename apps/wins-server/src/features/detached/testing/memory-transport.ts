/** Connections of daemons and keepers within this process. */
import type { KeeperTransport } from '@wins/process-manager';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/** Returns a transport whose addresses exist in this process only. */
export function memoryTransport(): KeeperTransport {
  const listeners = new Map<string, (socket: Socket) => void>();
  return {
    listen: (address, onConnection) => {
      const ends = new Set<Socket>();
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

/** Returns the two ends of a connection. Bytes arrive at once, and an end closes a turn of the event loop after the other one. */
function pair(): readonly [Socket, Socket] {
  const [one, other] = [new End(), new End()];
  one.other = other;
  other.other = one;
  // Keepers and daemons use no more of a socket.
  return [one, other] as unknown as readonly [Socket, Socket];
}

class End extends EventEmitter {
  other: End | undefined;
  writable = true;

  write(bytes: Buffer): void {
    if (this.writable && this.other?.writable === true) this.other.emit('data', bytes);
  }

  end(): void {
    this.destroy();
  }

  destroy(): void {
    if (!this.writable) return;
    this.writable = false;
    process.nextTick(() => this.emit('close'));
    setImmediate(() => this.other?.destroy());
  }
}
