import { listenForShutdown } from './shutdown-signal.js';

describe('the request to end', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('is %s, and the first one counts', async (signal) => {
    const shutdown = listenForShutdown();
    process.emit(signal, signal);
    process.emit('SIGINT', 'SIGINT');
    await expect(shutdown.requested).resolves.toEqual({ signal });
    shutdown[Symbol.dispose]();
  });

  it('leaves no listener behind', () => {
    const before = process.listenerCount('SIGTERM');
    listenForShutdown()[Symbol.dispose]();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });
});
