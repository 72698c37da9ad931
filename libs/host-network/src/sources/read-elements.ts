import { HostNetworkError } from '../host-network-error.js';

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Maximum number of bytes outside the list. If the answer is `null`, all its bytes count, because it contains no list. */
const MAX_OUTSIDE_BYTES = 4096;

/**
 * Reads a JSON list element by element, so that its length does not affect memory. `null` counts as an empty list.
 *
 * @param onElement - Receives each value; undefined for one larger than `maxElementBytes`.
 * @throws HostNetworkError `badSource` for any other text.
 */
export async function readElements(
  parts: AsyncIterable<Uint8Array>,
  maxElementBytes: number,
  onElement: (element: unknown) => void,
): Promise<void> {
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let hasEnded = false;
  let outside = '';
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let count = 0;

  const keep = (bytes: Uint8Array): void => {
    keptBytes += bytes.length;
    if (keptBytes <= maxElementBytes) kept.push(bytes);
    else kept = [];
  };
  const take = (isLast: boolean): void => {
    const isTooLarge = keptBytes > maxElementBytes;
    const text = Buffer.concat(kept).toString('utf8').trim();
    [kept, keptBytes] = [[], 0];
    if (isLast && count === 0 && text === '' && !isTooLarge) return;
    count += 1;
    onElement(isTooLarge ? undefined : parsed(text));
  };
  for await (const part of parts) {
    let start = 0;
    for (let at = 0; at < part.length; at += 1) {
      const byte = part[at] ?? 0;
      if (depth === 0) {
        if (byte === OPEN_LIST && !hasEnded && outside.trim() === '') {
          [depth, start] = [1, at + 1];
          continue;
        }
        outside += String.fromCharCode(byte);
        if (outside.length > MAX_OUTSIDE_BYTES) throw noList();
      } else if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
      } else if (byte === QUOTE) isInText = true;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        depth -= 1;
        if (depth > 0) continue;
        if (byte !== CLOSE_LIST) throw noList();
        keep(part.subarray(start, at));
        take(true);
        hasEnded = true;
      } else if (byte === COMMA && depth === 1) {
        keep(part.subarray(start, at));
        take(false);
        start = at + 1;
      }
    }
    if (depth > 0) keep(part.subarray(start));
  }
  if (depth > 0 || outside.trim() !== (hasEnded ? '' : 'null')) throw noList();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw noList();
  }
}

function noList(): HostNetworkError {
  return new HostNetworkError('badSource', 'the answer is not a complete JSON list');
}
