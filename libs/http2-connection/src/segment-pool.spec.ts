import { MessageGatherer } from './message-gatherer.js';
import { SEGMENT_OCTETS, SegmentPool } from './segment-pool.js';
import { grpcMessage } from './testing/frame-client.js';

describe('the memory of messages on their way', () => {
  const limits = { messageOctets: 1024 * 1024, framesPerMessage: 64 };
  const noMessage = (): never => {
    throw new Error('a message became whole');
  };

  it('is used again, by whom it is given up and by whom it is complete', () => {
    const pool = new SegmentPool();
    const first = pool.take();
    pool.give([first]);
    const unfinished = new MessageGatherer(limits, pool);
    unfinished.take(grpcMessage(Buffer.alloc(100, 1)).subarray(0, 50), noMessage);
    expect(unfinished.isUnfinished).toBe(true);
    unfinished.release();
    expect([unfinished.isUnfinished, unfinished.capacity]).toEqual([false, 0]);
    expect(pool.take()).toBe(first);
    pool.give([first]);

    const messages: Buffer[] = [];
    new MessageGatherer(limits, pool).take(grpcMessage('whole'), (message) => {
      messages.push(message);
    });
    expect(messages).toEqual([grpcMessage('whole')]);
    expect(pool.take()).toBe(first);
  });

  it('shows nobody what was in it before', () => {
    const pool = new SegmentPool();
    const secret = new MessageGatherer(limits, pool);
    secret.take(grpcMessage(Buffer.alloc(2 * SEGMENT_OCTETS, 's')).subarray(0, -1), noMessage);
    secret.release();
    const messages: Buffer[] = [];
    const body = Buffer.alloc(SEGMENT_OCTETS + 10, 'x');
    const other = new MessageGatherer(limits, pool);
    const octets = grpcMessage(body);
    for (let at = 0; at < octets.length; at += 1000) {
      other.take(octets.subarray(at, at + 1000), (message) => messages.push(message));
    }
    expect(messages).toEqual([octets]);
    // Also who goes on to write into the segments changes nothing of it.
    pool.take().fill('z');
    expect(messages).toEqual([octets]);
  });

  it('is kept up to 4 MiB', () => {
    const pool = new SegmentPool();
    const segments = Array.from({ length: 2000 }, () => pool.take());
    pool.give(segments);
    const again = Array.from({ length: 2000 }, () => pool.take());
    expect(again.filter((segment) => segments.includes(segment))).toHaveLength(1024);
  });
});
