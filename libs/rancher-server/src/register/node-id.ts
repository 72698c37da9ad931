import { quoteText } from '@wins/wins-program';
import { randomBytes } from 'node:crypto';

/** What the text of a cattle-id is worth: the id, or why there is none. */
export type NodeIdVerdict =
  { readonly id: string } | { readonly found: string; readonly wanted: string };

/** The value of a label of Kubernetes, which Rancher makes of it. */
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** A new id: 62 lower-case hex digits at random. Two nodes of one image have two. */
export function newNodeId(): string {
  return randomBytes(31).toString('hex');
}

/** Judges the text of a cattle-id, as it is in its file or was given; blanks, line breaks and a byte order mark around it do not count. */
export function judgeNodeId(text: string): NodeIdVerdict {
  const id = text.replace(/^\ufeff/, '').trim();
  if (LABEL.test(id)) return { id };
  const found = id === '' ? 'nothing' : id.length > 63 ? `${id.length} characters` : quoteText(id);
  const wanted =
    '1 to 63 letters, digits, dots, dashes and underscores, a letter or digit at both ends';
  return { found, wanted };
}
