import { WINS_CLIENT_WINDOW_BYTES } from '../client-window.js';
import { CLIENT_PREFACE, FRAME_HEADER_BYTES, FrameType, readFrameHeader } from './http2-frame.js';

const SETTING_BYTES = 6;
const INITIAL_WINDOW_SIZE = 0x4;
const MAX_HEADER_LIST_SIZE = 0x6;
/** The window that holds when no setting names one: grpc-go does not send it, grpc-js does. */
const DEFAULT_WINDOW_BYTES = 65_535;

/** As many octets as a decision can need: the preface and a SETTINGS frame with the two settings that grpc-go may send. */
export const OPENING_BYTES = CLIENT_PREFACE.length + FRAME_HEADER_BYTES + 2 * SETTING_BYTES;

/** Whether what a client sends first is that of an old grpc-go, cannot be, or is too short to tell. */
export type ClientKind = 'other' | 'perhapsOldGrpcGo' | 'undecided';

function couldBeGrpcGo(id: number, value: number): boolean {
  if (id === MAX_HEADER_LIST_SIZE) return true;
  return (
    id === INITIAL_WINDOW_SIZE &&
    value !== DEFAULT_WINDOW_BYTES &&
    value !== WINS_CLIENT_WINDOW_BYTES
  );
}

/**
 * Tells clients apart by their first octets, which they send without waiting for the server: the connection preface and a
 * SETTINGS frame. grpc-go names at most the stream window, when it is not the default, and the header list size.
 */
export function classifyHttp2Client(opening: Buffer): ClientKind {
  const preface = opening.subarray(0, CLIENT_PREFACE.length);
  if (!preface.equals(CLIENT_PREFACE.subarray(0, preface.length))) return 'other';
  const bytes = opening.subarray(CLIENT_PREFACE.length);
  if (bytes.length < FRAME_HEADER_BYTES) return 'undecided';
  const frame = readFrameHeader(bytes);
  const settings = bytes.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + frame.length);
  if (
    frame.type !== FrameType.Settings ||
    frame.flags !== 0 ||
    frame.length % SETTING_BYTES !== 0 ||
    frame.length > 2 * SETTING_BYTES
  ) {
    return 'other';
  }
  if (settings.length < frame.length) return 'undecided';
  for (let at = 0; at < settings.length; at += SETTING_BYTES) {
    const id = settings.readUInt16BE(at);
    if (!couldBeGrpcGo(id, settings.readUInt32BE(at + 2))) return 'other';
  }
  return 'perhapsOldGrpcGo';
}
