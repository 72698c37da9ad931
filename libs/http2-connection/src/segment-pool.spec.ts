import { MessageGatherer } from './message-gatherer.js';
import { SEGMENT_OCTETS, SegmentPool } from './segment-pool.js';
import { grpcMessage } from './testing/frame-client.js';

describe('the memory of messages on their way', () => {
  const noMessage = (): never => {
    throw new Error('a message became whole');
  };

  it('is used again, by whom it is given up and by whom it is complete', () => {
    const pool = new SegmentPool();
    const first = pool.take();
    pool.give([first]);
    const unfinished = new MessageGatherer(pool);
    unfinished.take(grpcMessage(Buffer.alloc(100, 1)).subarray(0, 50), noMessage);
    expect(unfinished.isUnfinished).toBe(true);
    unfinished.release();
    expect([unfinished.isUnfinished, unfinished.capacity]).toEqual([false, 0]);
    expect(pool.take()).toBe(first);
    pool.give([first]);

    const messages: Buffer[] = [];
    new MessageGatherer(pool).take(grpcMessage('whole'), (message) => {
      messages.push(message);
    });
    expect(messages).toEqual([grpcMessage('whole')]);
    expect(pool.take()).toBe(first);
  });

  it('shows nobody what was in it before', () => {
    const pool = new SegmentPool();
    const secret = new MessageGatherer(pool);
    secret.take(grpcMessage(Buffer.alloc(2 * SEGMENT_OCTETS, 's')).subarray(0, -1), noMessage);
    secret.release();
    const messages: Buffer[] = [];
    const body = Buffer.alloc(SEGMENT_OCTETS + 10, 'x');
    const other = new MessageGatherer(pool);
    const octets = grpcMessage(body);
    for (let at = 0; at < octets.length; at += 1000) {
      other.take(octets.subarray(at, at + 1000), (message) => messages.push(message));
    }
    expect(messages).toEqual([octets]);
    // A later write into a segment does not change the message.
    pool.take().fill('z');
    expect(messages).toEqual([octets]);
  });

  it('is kept while it is needed again and again, and 4 MiB when it is needed no more', () => {
    jest.useFakeTimers();
    const pool = new SegmentPool();
    const segments = Array.from({ length: 3000 }, () => pool.take());
    const known = new Set(segments);
    const use = (count: number): number => {
      const taken = Array.from({ length: count }, () => pool.take());
      pool.give(taken);
      return taken.filter((segment) => known.has(segment)).length;
    };
    pool.give(segments);
    for (let second = 0; second < 5; second += 1) {
      expect(use(2000)).toBe(2000);
      jest.advanceTimersByTime(1000);
    }
    expect(use(3000)).toBe(2000);
    jest.advanceTimersByTime(2000);
    expect(use(3000)).toBe(1024);
    jest.advanceTimersByTime(2000);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });
});
