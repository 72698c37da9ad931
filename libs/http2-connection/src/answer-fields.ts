import type { HeaderField } from './hpack/static-table.js';
import type { AnswerHeaders } from './http2-stream.js';

/** Characters to replace, because they could begin another header or control a terminal. */
const UNPRINTABLE = /[^ -~]/g;

/** Puts pseudo-headers first, as HTTP/2 requires. */
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
