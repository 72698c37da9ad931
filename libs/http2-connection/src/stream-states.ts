import { FRAME } from './frame.js';

/**
 * State of a stream as the server knows it.
 *
 * - `idle`: nobody has opened it.
 * - `open`: the client may still send; whether we have answered is in the stream.
 * - `halfClosedRemote`: the client has said all.
 * - `resetByUs`: we have ended it before the client was done, so more of it may be under way.
 * - `closed`: both are done with it, or the client gave it up.
 */
export type StreamState = 'idle' | 'open' | 'halfClosedRemote' | 'resetByUs' | 'closed';

/**
 * Verdict on a frame: `pass` it to the stream, `open` the stream, drop it as one that came `late` (counted), or end the
 * connection for it.
 */
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

/** Judges a frame of a stream. Only DATA, HEADERS, RST_STREAM and WINDOW_UPDATE are asked for. */
export function frameVerdict(state: StreamState, type: number): FrameVerdict {
  const name = NAME_OF.get(type);
  return name === undefined ? 'late' : VERDICT[state][name];
}
