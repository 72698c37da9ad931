/** Rules that can refuse a Connect. */
export const REFUSAL_RULES = [
  'address-length',
  'protocol-tcp',
  'host-loopback',
  'port-number',
  'port-not-listed',
  'stream-limit',
  'draining',
  'connect-rate',
  'not-recorded',
  'client-role',
] as const;

/** A rule that refused a Connect. Safe as a metric label, because the list is closed. */
export type RefusalRule = (typeof REFUSAL_RULES)[number];

export type DialFailure = 'dialRefused' | 'dialTimeout' | 'dialFailed';

export type Refusal =
  | { readonly code: 'connectRefused'; readonly rule: RefusalRule | undefined }
  | { readonly code: DialFailure; readonly rule?: undefined };

// A peer reads only the first 100 bytes of an Error message's text. Our texts begin with `REFUSED` or `FAILED`,
// and continue with a rule or a code. Go peers only log the text.
const REFUSED = 'connect not allowed';
const FAILED = 'connect failed';
/** Dial failure of Go (`dial tcp 127.0.0.1:80: connect: connection refused`) or of earlier builds of this library. */
const OTHER_DIAL_TEXT = /^dial(?:led)? /;
const DIAL_FAILURES: readonly DialFailure[] = ['dialRefused', 'dialTimeout', 'dialFailed'];

export function writeRefusal(rule: RefusalRule): string {
  return `${REFUSED}: ${wordOf(rule)}`;
}

/** Returns the word for a rule on the wire. Peers of all releases know `port-not-listed` as `port-allowed`. */
function wordOf(rule: RefusalRule): string {
  return rule === 'port-not-listed' ? 'port-allowed' : rule;
}

export function writeFailure(error: { readonly code: string; readonly message: string }): string {
  const failure = DIAL_FAILURES.find((code) => code === error.code);
  return failure === undefined ? error.message : `${FAILED}: ${failure}`;
}

/**
 * Parses the text of an Error. Returns undefined unless the text reports a stream that failed to open. An unknown rule
 * becomes undefined, and an unknown dial failure becomes `dialFailed`.
 */
export function readRefusal(text: string): Refusal | undefined {
  const colon = text.indexOf(': ');
  const [head, detail] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 2)];
  if (head === REFUSED) {
    return { code: 'connectRefused', rule: REFUSAL_RULES.find((rule) => wordOf(rule) === detail) };
  }
  if (head === FAILED) {
    return { code: DIAL_FAILURES.find((code) => code === detail) ?? 'dialFailed' };
  }
  return OTHER_DIAL_TEXT.test(text) ? { code: 'dialFailed' } : undefined;
}
