import { ConnectionFault } from './end-reason.js';
import { DEFAULT_FRAME_OCTETS, FLAG, LARGEST_WINDOW_OCTETS, SETTING, type Frame } from './frame.js';

/** Maximum number of settings in one frame; no peer needs more. */
const MOST_SETTINGS = 64;
const SETTING_OCTETS = 6;

/** @throws ConnectionFault unless a frame has the right size and the right stream id. */
export function requireFrame(rightSize: boolean, rightStream: boolean): void {
  if (!rightSize) throw new ConnectionFault('frameSize');
  if (!rightStream) throw new ConnectionFault('badStreamId');
}

/** @throws ConnectionFault unless the size is right and the stream id is 0. */
export function isSettingsAck({ flags, streamId, payload }: Frame): boolean {
  const isAck = (flags & FLAG.ack) !== 0;
  const isRightSize = isAck ? payload.length === 0 : payload.length % SETTING_OCTETS === 0;
  requireFrame(isRightSize, streamId === 0);
  return isAck;
}

/** Keeps the order of settings. The caller checks that the length is a multiple of 6. @throws ConnectionFault for too many or invalid settings. */
export function readSettings(payload: Buffer): (readonly [id: number, value: number])[] {
  if (payload.length > MOST_SETTINGS * SETTING_OCTETS) throw new ConnectionFault('tooManySettings');
  const settings: (readonly [number, number])[] = [];
  for (let at = 0; at < payload.length; at += SETTING_OCTETS) {
    const [id, value] = [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)];
    if (id === SETTING.enablePush && value > 1) throw new ConnectionFault('badSetting');
    if (id === SETTING.maxFrameSize && (value < DEFAULT_FRAME_OCTETS || value > 0xffffff))
      throw new ConnectionFault('badSetting');
    if (id === SETTING.initialWindowSize && value > LARGEST_WINDOW_OCTETS)
      throw new ConnectionFault('windowExceeded');
    settings.push([id, value]);
  }
  return settings;
}

/** @throws ConnectionFault */
export function readWindowStep(payload: Buffer): number {
  requireFrame(payload.length === 4, true);
  const octets = payload.readUInt32BE(0) & LARGEST_WINDOW_OCTETS;
  if (octets === 0) throw new ConnectionFault('badFrame');
  return octets;
}
