/**
 * The bytes in a buffer of exactly their length: what has to wait keeps no more alive than is counted for it. Received bytes
 * are views into the reads of a WebSocket, which are larger.
 */
export function exactBuffer(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
