import { randomBytes } from 'node:crypto';
import { quoteText } from '@wins/wins-program';

/** What the text of a cattle-id is worth. */
export type NodeIdVerdict =
  | { readonly kind: 'valid'; readonly id: string }
  /** Blanks, line breaks or a byte order mark were around it; `id` is what is left. */
  | { readonly kind: 'repaired'; readonly id: string }
  | { readonly kind: 'refused'; readonly found: string; readonly wanted: string };

/** The value of a label of Kubernetes, which Rancher makes of it. */
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** A new id: 62 lower-case hex digits at random. Two nodes of one image have two. */
export function newNodeId(): string {
  return randomBytes(31).toString('hex');
}

/** Judges the text of a cattle-id, as it is in its file or was given. */
export function judgeNodeId(text: string): NodeIdVerdict {
  const id = text.replace(/^\ufeff/, '').trim();
  const wanted =
    '1 to 63 letters, digits, dots, dashes and underscores, a letter or digit at both ends';
  if (id === '') return { kind: 'refused', found: 'nothing', wanted };
  if (!LABEL.test(id)) {
    const found = id.length > 63 ? `${id.length} characters` : quoteText(id);
    return { kind: 'refused', found, wanted };
  }
  return { kind: id === text ? 'valid' : 'repaired', id };
}
