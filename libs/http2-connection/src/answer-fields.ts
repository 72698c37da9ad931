import type { HeaderField } from './hpack/static-table.js';
import type { AnswerHeaders } from './http2-stream.js';

/** Octets to replace in values, so that none can begin another header or control a terminal. */
const UNPRINTABLE = /[^ -~]/g;

/** Returns the headers of an answer in wire order: pseudo-headers of HTTP/2 come first. */
export function answerFields(headers: AnswerHeaders): HeaderField[] {
  const pseudo: HeaderField[] = [];
  const regular: HeaderField[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const into = name.startsWith(':') ? pseudo : regular;
    for (const one of typeof value === 'object' ? value : [value]) {
      into.push([name.toLowerCase(), String(one).replaceAll(UNPRINTABLE, '?')]);
    }
  }
  return [...pseudo, ...regular];
}
