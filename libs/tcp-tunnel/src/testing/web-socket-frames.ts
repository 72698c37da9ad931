export interface Frame {
  readonly opcode: number;
  readonly final: boolean;
  readonly payload: Buffer;
}

/** Parses the complete frames at the beginning of `bytes`. */
export function parseFrames(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2);
    const short = second & 0x7f;
    if (short === 127) throw new Error('no frame in a specification is that long');
    const lengthBytes = short === 126 ? 2 : 0;
    const maskBytes = second & 0x80 ? 4 : 0;
    const body = at + 2 + lengthBytes + maskBytes;
    if (body > bytes.length) break;
    const length = lengthBytes === 2 ? bytes.readUInt16BE(at + 2) : short;
    if (body + length > bytes.length) break;
    const mask = bytes.subarray(body - maskBytes, body);
    const payload = Buffer.from(bytes.subarray(body, body + length));
    if (maskBytes > 0)
      payload.forEach((byte, index) => (payload[index] = byte ^ (mask[index % 4] ?? 0)));
    frames.push({ opcode: first & 0x0f, final: (first & 0x80) !== 0, payload });
    at = body + length;
  }
  return frames;
}

/** Joins fragments into whole binary messages. */
export function messagesOf(bytes: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  let parts: Buffer[] = [];
  for (const frame of parseFrames(bytes)) {
    if (frame.opcode > 2) continue;
    parts.push(frame.payload);
    if (!frame.final) continue;
    messages.push(Buffer.concat(parts));
    parts = [];
  }
  return messages;
}
