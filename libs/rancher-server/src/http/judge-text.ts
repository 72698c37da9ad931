import type { IncomingHttpHeaders } from 'node:http';

/** Whether an answer is a page for people. Rancher sends its dashboard, with status 200, for what it does not have. */
export function isHtml(headers: IncomingHttpHeaders, first: Uint8Array): boolean {
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? ''))
    return true;
  const text = Buffer.from(first.subarray(0, 512)).toString('latin1').replace(/^ï»¿/, '');
  return /^\s*(?:<!--[^]*?-->\s*)?<(?:!doctype\s+html|html)[\s>]/i.test(text);
}
