import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy that can drop connections silently: both ends see them open, but no data passes. */
export interface ForgetfulBox {
  readonly url: string;
  /** Drops the open connections silently; `all` also drops later ones. */
  forget(what: 'open' | 'all'): void;
  close(): Promise<void>;
}

/** @param to - URL of a server on this machine. */
export async function startForgetfulBox(to: string): Promise<ForgetfulBox> {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((from) => {
    sockets.add(from.on('error', () => undefined));
    if (!isOpen) {
      from.resume();
      return;
    }
    const on = connect(Number(new URL(to).port), '127.0.0.1');
    sockets.add(on.on('error', () => from.destroy()));
    from.on('close', () => on.destroy());
    on.on('close', () => from.destroy());
    from.pipe(on).pipe(from);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    forget: (what) => {
      isOpen = what !== 'all';
      for (const socket of sockets) socket.unpipe().removeAllListeners('close').resume();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
