import type { TunnelStream } from '@wins/tcp-tunnel';
import { PassThrough } from 'node:stream';
import { noticeSilence } from './slow-stream.js';

/** Bytes of a stream after 15 s, and whether its program counts as silent. */
const CASES = [
  { bytesRead: 90, bytesWritten: 0, silent: 1, what: 'got a request and sent nothing' },
  { bytesRead: 90, bytesWritten: 1, silent: 0, what: 'has answered' },
  { bytesRead: 0, bytesWritten: 0, silent: 0, what: 'was asked nothing' },
] as const;

describe('a stream of a tunnel', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());
  const streamOf = (moved: { readonly bytesRead: number; readonly bytesWritten: number }) =>
    Object.assign(new PassThrough(), { id: 1n, ...moved }) as unknown as TunnelStream;

  it.each(CASES)('whose program $what is silent $silent times', ({ silent, ...moved }) => {
    const isSilent = jest.fn();
    noticeSilence(streamOf(moved), isSilent);
    jest.advanceTimersByTime(14_999);
    expect(isSilent).not.toHaveBeenCalled();
    jest.advanceTimersByTime(60_000);
    expect(isSilent).toHaveBeenCalledTimes(silent);
  });

  it('that has closed is not silent', () => {
    const isSilent = jest.fn();
    const stream = streamOf({ bytesRead: 1, bytesWritten: 0 });
    noticeSilence(stream, isSilent);
    stream.emit('close');
    jest.advanceTimersByTime(60_000);
    expect(isSilent).not.toHaveBeenCalled();
  });
});
