import { FRAME } from './frame.js';

/**
 * Server-side state of a stream.
 *
 * - `idle`: never opened.
 * - `open`: the client may still send, even if we have answered.
 * - `halfClosedRemote`: the client has sent its whole request.
 * - `resetByUs`: we ended the stream early, so frames of it may still be in transit.
 * - `closed`: both sides are done, or the client reset it.
 */
export type StreamState = 'idle' | 'open' | 'halfClosedRemote' | 'resetByUs' | 'closed';

/** `late` frames are dropped and counted. */
export type FrameVerdict = 'pass' | 'open' | 'late' | 'frameOnIdleStream' | 'frameAfterEnd';

type StreamFrame = 'data' | 'headers' | 'rstStream' | 'windowUpdate';

const VERDICT: Readonly<Record<StreamState, Readonly<Record<StreamFrame, FrameVerdict>>>> = {
  idle: {
    data: 'frameOnIdleStream',
    headers: 'open',
    rstStream: 'frameOnIdleStream',
    windowUpdate: 'frameOnIdleStream',
  },
  open: { data: 'pass', headers: 'pass', rstStream: 'pass', windowUpdate: 'pass' },
  halfClosedRemote: {
    data: 'frameAfterEnd',
    headers: 'frameAfterEnd',
    rstStream: 'pass',
    windowUpdate: 'pass',
  },
  resetByUs: { data: 'late', headers: 'late', rstStream: 'late', windowUpdate: 'late' },
  closed: {
    data: 'frameAfterEnd',
    headers: 'frameAfterEnd',
    rstStream: 'late',
    windowUpdate: 'late',
  },
};

const NAME_OF: ReadonlyMap<number, StreamFrame> = new Map([
  [FRAME.data, 'data'],
  [FRAME.headers, 'headers'],
  [FRAME.rstStream, 'rstStream'],
  [FRAME.windowUpdate, 'windowUpdate'],
]);

/** `type` is DATA, HEADERS, RST_STREAM or WINDOW_UPDATE. The `undefined` case is only for the compiler. */
export function frameVerdict(state: StreamState, type: number): FrameVerdict {
  const name = NAME_OF.get(type);
  return name === undefined ? 'late' : VERDICT[state][name];
}
