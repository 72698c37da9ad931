import type { HeaderField } from './hpack/static-table.js';
import type { AnswerHeaders } from './http2-stream.js';

/** No octet of a value may begin another header, or steer who prints it. */
const UNPRINTABLE = /[^ -~]/g;

/** The headers of an answer in the order of the wire: those of HTTP/2 itself come first. */
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
