import { createCertificateAuthority } from '@wins/base/testing';
import fc from 'fast-check';
import { readPemBlocks, readCertificates } from './read-certificates.js';

const [one, two] = ['one', 'two'].map((name) => createCertificateAuthority(name)) as [
  ReturnType<typeof createCertificateAuthority>,
  ReturnType<typeof createCertificateAuthority>,
];
const body = one.cert.split('\n').slice(1, -2).join('\n');
const block = (label: string, text: string) =>
  `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;

describe('the certificates of a text', () => {
  it.each([
    ['one certificate', one.cert, ['one']],
    ['a chain', one.cert + two.cert, ['one', 'two']],
    ['blank lines', `\n\n${one.cert}\n\n\n${two.cert}\n`, ['one', 'two']],
    ['CR LF', one.cert.replace(/\n/g, '\r\n'), ['one']],
    ['a byte order mark', `\ufeff${one.cert}`, ['one']],
    ['no line break between two', one.cert.trim() + two.cert, ['one', 'two']],
    ['the same twice', one.cert + one.cert, ['one']],
    ['one long line', block('CERTIFICATE', body.replace(/\n/g, '')), ['one']],
    ['attributes of PKCS #12', `Bag Attributes: <none>\nsubject=CN = one\n${one.cert}`, ['one']],
    ['another kind between', one.cert + block('X509 CRL', 'AAAA') + two.cert, ['one', 'two']],
    ['the old label', block('X509 CERTIFICATE', body), ['one']],
    ['nothing', '', []],
  ])('%s', (_title, text, names) => {
    const { certificates } = readCertificates(text, '/cacerts');
    expect(certificates.map(({ subject }) => subject)).toEqual(names.map((name) => `"CN=${name}"`));
    for (const { pem } of certificates) expect([one.cert, two.cert]).toContain(pem);
  });

  it.each([
    ['is corrupt', block('CERTIFICATE', `AAAA${body.slice(4)}`), 'that cannot be read'],
    ['is no base64', block('CERTIFICATE', '%%%%'), 'truncated or not base64'],
    ['is empty', block('CERTIFICATE', ''), 'truncated or not base64'],
    ['has no end', one.cert.slice(0, -30), 'truncated or not base64'],
    ['another begins in', `-----BEGIN CERTIFICATE-----\n${body}\n`, 'truncated or not base64'],
    ['ends as another', `-----BEGIN CERTIFICATE-----\n${body}\n-----END X-----\n`, 'truncated'],
    ['is a private key', one.key, 'a private key'],
    ['is a private key with a password', block('ENCRYPTED PRIVATE KEY', 'AAAA'), 'a private key'],
    ['is a CRL', block('X509 CRL', 'AAAA'), '"X509 CRL"'],
  ])('leave out a block that %s, and say why', (_title, text, why) => {
    const { certificates, warnings } = readCertificates(text + two.cert, '/cacerts');
    expect(certificates.map(({ pem }) => pem)).toEqual([two.cert]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^ignoring block 1 of \/cacerts: found /);
    expect(warnings[0]).toContain(why);
  });

  it('never contain bytes of a private key, whatever surrounds it', () => {
    const pieces = [one.cert, two.cert, one.key, '\n', 'junk', '-----BEGIN CERTIFICATE-----\n'];
    const secret = one.key.split('\n')[1] ?? '';
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
        expect(JSON.stringify(readCertificates(parts.join(''), '/cacerts'))).not.toContain(secret);
      }),
    );
  });

  it('are found in any text without an error', () => {
    const unit = fc.nat(0x10_ffff).map((code) => String.fromCodePoint(code));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 300 }), (text) => {
        expect(
          readCertificates(text + one.cert, '/cacerts').certificates.length,
        ).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('are a line of a log each, ten at most, when they are left out', () => {
    const text = block('X', 'AAAA').repeat(5000) + two.cert;
    const { certificates, warnings } = readCertificates(text, '/cacerts');
    expect(certificates).toHaveLength(1);
    expect(warnings).toHaveLength(11);
    expect(warnings[10]).toBe('ignoring 4990 more blocks of /cacerts');
  });

  it('are found in time that grows with the text: beginnings without an end cost no more', () => {
    const beginnings = '-----BEGIN CERTIFICATE-----'.repeat(38_000);
    expect(readPemBlocks(beginnings)).toHaveLength(38_000);
  });
});
