/** The rules by which a server refuses a Connect; `port-allowed` is the one that an allowed Connect passes last. */
export const REFUSAL_RULES = [
  'address-length',
  'protocol-tcp',
  'host-loopback',
  'port-number',
  'port-allowed',
  'stream-limit',
  'draining',
  'connect-rate',
  'not-recorded',
  'client-role',
] as const;

/** One of the rules. */
export type RefusalRule = (typeof REFUSAL_RULES)[number];

export type DialFailure = 'dialRefused' | 'dialTimeout' | 'dialFailed';

export type Refusal =
  | { readonly code: 'connectRefused'; readonly rule: RefusalRule | undefined }
  | { readonly code: DialFailure; readonly rule?: undefined };

// The protocol has one text for every failure of a stream, that of Error, of which peers read 100 bytes. Ours begins with one
// of these, which is stable; what follows is a rule or a code. A peer in Go logs the text and reads nothing in it.
const REFUSED = 'connect not allowed';
const FAILED = 'connect failed';
/** Beginning of what Go's dialler says (`dial tcp 127.0.0.1:80: connect: connection refused`), and earlier builds of this library. */
const OTHER_DIAL_TEXT = /^dial(?:led)? /;
const DIAL_FAILURES: readonly DialFailure[] = ['dialRefused', 'dialTimeout', 'dialFailed'];

export function writeRefusal(rule: RefusalRule): string {
  return `${REFUSED}: ${rule}`;
}

export function writeFailure(error: { readonly code: string; readonly message: string }): string {
  const failure = DIAL_FAILURES.find((code) => code === error.code);
  return failure === undefined ? error.message : `${FAILED}: ${failure}`;
}

/**
 * Reads the text of an Error: undefined when it does not say that the stream was not opened. A refusal by a rule that is not
 * known here has no rule, and a dial that failed in words of another peer is `dialFailed`: the text is all there is to show then.
 */
export function readRefusal(text: string): Refusal | undefined {
  const colon = text.indexOf(': ');
  const [head, detail] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 2)];
  if (head === REFUSED) {
    return { code: 'connectRefused', rule: REFUSAL_RULES.find((rule) => rule === detail) };
  }
  if (head === FAILED) {
    return { code: DIAL_FAILURES.find((code) => code === detail) ?? 'dialFailed' };
  }
  return OTHER_DIAL_TEXT.test(text) ? { code: 'dialFailed' } : undefined;
}
