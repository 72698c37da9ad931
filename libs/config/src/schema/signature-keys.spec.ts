import { CODE_SIGNING, createCertificateAuthority, TIME_STAMPING } from '@wins/base/testing';
import { ConfigError, maskedSettings, parseConfig } from '../index.js';

const THUMBPRINT = 'ab'.repeat(32);
const root = createCertificateAuthority('root');
const second = createCertificateAuthority('second', root);
const signer = root.issue('signer', [], { purposes: [CODE_SIGNING] });
const stamper = root.issue('stamper', [], { purposes: [TIME_STAMPING], limitsPurposes: true });
const web = root.issue('web', ['localhost']);

const read = (upgrade: object) => parseConfig(JSON.stringify({ upgrade })).config.upgrade;
const trimmed = (pem: string) => pem.trim();

function refusalOf(text: string): string {
  try {
    parseConfig(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

const refusal = (upgrade: object) => refusalOf(JSON.stringify({ upgrade }));

describe('upgrade.signedBy', () => {
  it('takes a thumbprint, and the PEM text of authorities and signers', () => {
    const { signedBy } = read({ signedBy: [THUMBPRINT.toUpperCase(), root.cert, signer.cert] });
    expect(signedBy).toEqual([
      { certificate: THUMBPRINT },
      { certificate: trimmed(root.cert) },
      { certificate: trimmed(signer.cert) },
    ]);
    expect(read({ signedBy: root.cert }).signedBy).toHaveLength(1);
  });

  it('counts each certificate of one text, with text around them and other line ends', () => {
    const text = `Issuer: root\r\n${root.cert.replaceAll('\n', '\r\n')}\n# the second\n${second.cert}`;
    const purpose = '1.3.6.1.4.1.311.97.990309390.766961637';
    const { signedBy } = read({ signedBy: [{ certificate: text, purpose }] });
    expect(signedBy?.map((entry) => [entry.certificate.slice(0, 27), entry.purpose])).toEqual(
      Array.from({ length: 2 }, () => ['-----BEGIN CERTIFICATE-----', purpose]),
    );
  });

  it('takes a PEM text as a block of YAML, and tells it in the keys that are in force', () => {
    const block = root.cert.replaceAll(/^(?=.)/gm, '      ');
    const text = `upgrade:\n  signedBy:\n  - |\n${block}  - certificate: ${THUMBPRINT}\n    purpose: 1.2.3\n`;
    const parsed = parseConfig(text);
    expect(parsed.config.upgrade.signedBy).toEqual([
      { certificate: trimmed(root.cert) },
      { certificate: THUMBPRINT, purpose: '1.2.3' },
    ]);
    expect(JSON.stringify(maskedSettings(parsed.config, String))).toContain('BEGIN CERTIFICATE');
  });

  it.each([
    ['a certificate of a web server', web.cert, 'one for signing code'],
    ['a certificate of timestamps', stamper.cert, 'one for signing code'],
    [
      'a second certificate of a web server',
      root.cert + web.cert,
      'certificate 2 to be one of an authority',
    ],
    ['a key', signer.key, 'found a private key, expected'],
    ['a key beside its certificate', signer.cert + signer.key, 'found a private key, expected'],
    ['a cut text', root.cert.slice(0, -40), 'or certificates as PEM'],
    ['a damaged text', root.cert.replace(/\n[A-Za-z0-9+/]{8}/, '\nAAAAAAAA'), 'that is valid PEM'],
    [
      'no certificate',
      '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----',
      'that is valid PEM',
    ],
    [
      'a request',
      '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----',
      'as PEM',
    ],
    ['a path', '/etc/ssl/root.pem', 'or certificates as PEM'],
    ['a thumbprint of SHA-1', 'ab'.repeat(20), 'thumbprint of 64 hexadecimal digits'],
    ['too many certificates', root.cert.repeat(17), 'at most 16 certificates'],
  ])('refuses %s', (_, certificate, expected) => {
    for (const signedBy of [[certificate], [{ certificate, purpose: '1.2.3' }]]) {
      const found = refusal({ signedBy });
      expect(found).toContain('upgrade.signedBy[0].certificate');
      expect(found).toContain(expected);
    }
    expect(refusal({ signedBy: [certificate] })).not.toContain(signer.key.slice(30, 60));
  });

  it.each([
    ['an empty list', { signedBy: [] }],
    ['an entry without certificate', { signedBy: [{ purpose: '1.2.3' }] }],
    ['an empty certificate', { signedBy: [''] }],
    ['an empty purpose', { signedBy: [{ certificate: THUMBPRINT, purpose: '' }] }],
    ['a void purpose', { signedBy: [{ certificate: THUMBPRINT, purpose: null }] }],
    ['the name of a purpose', { signedBy: [{ certificate: THUMBPRINT, purpose: 'codeSigning' }] }],
    ['a misspelt purpose', { signedBy: [{ certificate: THUMBPRINT, purposes: '1.2.3' }] }],
    ['a misspelt key', { signdBy: [THUMBPRINT] }],
    ['an unknown key', { certificates: [THUMBPRINT] }],
    ['an empty list of timestamp authorities', { signedBy: [THUMBPRINT], timestampedBy: [] }],
    ['more than 16 entries', { signedBy: Array.from({ length: 17 }, () => THUMBPRINT) }],
  ])('refuses %s, which would widen what is accepted', (_, upgrade) => {
    expect(refusal(upgrade)).toContain('upgrade.');
  });

  it.each([
    'signedBy: [X]',
    'signed-by: X',
    'upgrades: {signedBy: [X]}',
    'upgrad: {signedBy: [X]}',
  ])(
    'refuses %s at the top of the file, although other unknown keys only cause warnings',
    (line) => {
      expect(refusalOf(line.replace('X', THUMBPRINT))).toMatch(/expected "upgrade/);
      expect(refusalOf('something: 1')).toBe('');
    },
  );
});

describe('upgrade.timestampedBy', () => {
  it('takes authorities and timestamp authorities, and no signers of programs', () => {
    const listed = [THUMBPRINT, root.cert, stamper.cert];
    const { timestampedBy } = read({ signedBy: [THUMBPRINT], timestampedBy: listed });
    expect(timestampedBy).toEqual([THUMBPRINT, trimmed(root.cert), trimmed(stamper.cert)]);
    expect(refusal({ signedBy: [THUMBPRINT], timestampedBy: [signer.cert] })).toContain(
      'or one for timestamps',
    );
  });

  it('has no effect alone, and a warning says so', () => {
    const { warnings } = parseConfig(`upgrade: {timestampedBy: [${THUMBPRINT}]}`);
    expect(warnings.map(({ keyPath, code }) => [keyPath, code])).toContainEqual([
      'upgrade.timestampedBy',
      'noEffect',
    ]);
  });
});
