import { TunnelError } from '../tunnel-error.js';
import { readRefusal, REFUSAL_RULES, writeFailure, writeRefusal } from './refusal.js';

describe('a refusal on the wire', () => {
  it.each(REFUSAL_RULES)('is read back as it was written: %s', (rule) => {
    expect(readRefusal(writeRefusal(rule))).toEqual({ code: 'connectRefused', rule });
    expect(Buffer.byteLength(writeRefusal(rule))).toBeLessThanOrEqual(100);
  });

  it('of a port that is not listed has the word that earlier releases know', () => {
    expect(writeRefusal('port-not-listed')).toBe('connect not allowed: port-allowed');
  });

  it.each(['dialRefused', 'dialTimeout', 'dialFailed'] as const)(
    'carries the code of a failed dial and nothing else: %s',
    (code) => {
      const text = writeFailure(new TunnelError(code, 'cannot dial /a/secret/place'));
      expect(text).toBe(`connect failed: ${code}`);
      expect(readRefusal(text)).toEqual({ code });
    },
  );

  it.each([
    ['connect not allowed', 'connectRefused'],
    ['connect not allowed: a rule of tomorrow', 'connectRefused'],
    ['connect failed: a code of tomorrow', 'dialFailed'],
    ['dial tcp 127.0.0.1:9796: connect: connection refused', 'dialFailed'],
    ['dialled the loopback on port 80: nothing listens there', 'dialFailed'],
  ])('of another peer is understood without a rule: %s', (text, code) => {
    expect(readRefusal(text)).toEqual({ code, rule: undefined });
  });

  it.each([
    'connection reset',
    'EOF',
    'read: connection reset by peer',
    '',
    'connect not allowedX',
  ])('is no other end of a stream: %j', (text) => {
    expect(readRefusal(text)).toBeUndefined();
  });

  it('is not what any other failure tells', () => {
    expect(writeFailure(new TunnelError('aborted', 'the stream was aborted'))).toBe(
      'the stream was aborted',
    );
  });
});
