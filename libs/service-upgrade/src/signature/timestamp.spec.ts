import { CODE_SIGNING, createCertificateAuthority, TIME_STAMPING } from '@wins/base/testing';
import {
  addUnsigned,
  describeSigned,
  refusalOf,
  signProgram,
  smallProgram,
  thumbprintOf,
  tokenFor,
  type TestToken,
} from '../testing/signing.js';

const HOUR_MS = 3_600_000;
const hours = (count: number) => new Date(Date.now() + count * HOUR_MS);
const LASTING = { notBefore: hours(-9000), notAfter: hours(90_000) };
const STAMPS = { ...LASTING, purposes: [TIME_STAMPING], limitsPurposes: true };
/** Valid from 100 h ago to 28 h ago, like a certificate of a signing service. */
const SHORT = { notBefore: hours(-100), notAfter: hours(-28), purposes: [CODE_SIGNING] };

const root = createCertificateAuthority('root', undefined, LASTING);
const issuing = createCertificateAuthority('issuing', root, LASTING);
const signer = issuing.issue('signer', [], SHORT);
const stampRoot = createCertificateAuthority('stamp root', undefined, LASTING);
const stampIssuing = createCertificateAuthority('stamp issuing', stampRoot, LASTING);
const stamper = stampIssuing.issue('stamper', [], STAMPS);
const program = smallProgram();
const rule = { signedBy: [{ certificate: root.cert }], timestampedBy: [stampRoot.cert] };

const unstamped = signProgram(program, signer, [issuing]);
const RFC_3161 = '1.3.6.1.4.1.311.3.3.1';

function stamped(at = hours(-50), by = stamper, of = signer, more: readonly string[] = []): Buffer {
  return signProgram(program, of, [issuing], more, { by, authorities: [stampIssuing], at });
}

describeSigned('a program whose certificate has expired', () => {
  const inTime = stamped();

  it('is taken with a timestamp of a trusted authority from when the certificate was valid', async () => {
    expect(await refusalOf(inTime, rule)).toBeUndefined();
    expect(await refusalOf(inTime, rule, hours(80_000))).toBeUndefined();
    for (const listed of [stampRoot, stampIssuing, stamper])
      expect(
        await refusalOf(inTime, {
          ...rule,
          timestampedBy: [thumbprintOf(stampIssuing), listed.cert],
        }),
      ).toBeUndefined();
  });

  it('is refused without a trusted timestamp authority, and the message says which one signed', async () => {
    const found = await refusalOf(inTime, { signedBy: rule.signedBy });
    expect(found).toContain('which is valid from');
    expect(found).toContain('upgrade.timestampedBy');
    const other = createCertificateAuthority('stamp root', undefined, LASTING);
    expect(await refusalOf(inTime, { ...rule, timestampedBy: [other.cert] })).toMatch(
      /its timestamp does not count: it is by "CN=stamper" .*; wanted one by "CN=stamp root"/,
    );
    // The rules of signers do not apply to timestamps, nor the other way round.
    expect(
      await refusalOf(inTime, { signedBy: [...rule.signedBy, { certificate: stampRoot.cert }] }),
    ).toBeDefined();
    expect(
      await refusalOf(inTime, {
        signedBy: [{ certificate: stampRoot.cert }],
        timestampedBy: [root.cert, stampRoot.cert],
      }),
    ).toBeDefined();
  });

  it('is refused without a timestamp, and with one from before or after', async () => {
    expect(await refusalOf(unstamped, rule)).toContain('the signature has no timestamp');
    for (const at of [hours(-101), hours(-27)])
      expect(await refusalOf(stamped(at), rule)).toMatch(
        /at its timestamp, .*Z, it was "CN=signer"/,
      );
  });

  it('is refused when an authority above it was not valid at the time of the timestamp', async () => {
    const late = createCertificateAuthority('late', root, {
      notBefore: hours(-40),
      notAfter: hours(-1),
    });
    const code = late.issue('code', [], SHORT);
    const stamp = { by: stamper, authorities: [stampIssuing], at: hours(-50) };
    const bytes = signProgram(program, code, [late], [], stamp);
    expect(await refusalOf(bytes, rule)).toMatch(
      /at its timestamp, .*"CN=late" .*, which is valid from/,
    );
    const then = signProgram(program, code, [late], [], { ...stamp, at: hours(-30) });
    expect(await refusalOf(then, rule)).toBeUndefined();
  });

  it.each([
    ['is not critical', { ...STAMPS, limitsPurposes: false }],
    ['has a second purpose', { ...STAMPS, purposes: [TIME_STAMPING, CODE_SIGNING] }],
    ['is that of signers', { ...STAMPS, purposes: [CODE_SIGNING] }],
    ['is any', { ...STAMPS, purposes: ['2.5.29.37.0'] }],
    ['is missing', { notBefore: LASTING.notBefore, notAfter: LASTING.notAfter }],
  ])('is refused when the purpose of the timestamp authority %s', async (_, options) => {
    const by = stampIssuing.issue('stamper', [], options);
    const bytes = withToken({ by, at: hours(-50) });
    expect(await refusalOf(bytes, { ...rule, timestampedBy: [by.cert] })).toContain(
      'which is not for timestamps alone',
    );
  });

  it('is refused when the timestamp authority was not valid at that time, and taken after it has expired', async () => {
    const early = stampIssuing.issue('early', [], { ...STAMPS, notAfter: hours(-60) });
    expect(await refusalOf(stamped(hours(-50), early), rule)).toMatch(
      /"CN=early" .*, which is valid from/,
    );
    const ended = stampIssuing.issue('ended', [], { ...STAMPS, notAfter: hours(-40) });
    expect(await refusalOf(stamped(hours(-50), ended), rule)).toBeUndefined();
  });

  it('is refused when the authority above the timestamp authority is for other purposes', async () => {
    const web = createCertificateAuthority('web', stampRoot, {
      ...LASTING,
      purposes: ['1.3.6.1.5.5.7.3.1'],
    });
    const by = web.issue('stamper', [], STAMPS);
    const bytes = signProgram(program, signer, [issuing], [], {
      by,
      authorities: [web],
      at: hours(-50),
    });
    expect(await refusalOf(bytes, rule)).toContain('which may not certify keys for this purpose');
  });

  it('is refused with a timestamp later than the clock of the node', async () => {
    const fresh = issuing.issue('fresh', [], {
      ...SHORT,
      notBefore: hours(-10),
      notAfter: hours(10),
    });
    const bytes = stamped(hours(5), stamper, fresh);
    expect(await refusalOf(bytes, rule)).toBeUndefined();
    expect(await refusalOf(bytes, rule, hours(6))).toBeUndefined();
    expect(await refusalOf(bytes, rule, hours(11))).toBeUndefined();
    expect(await refusalOf(bytes, rule, hours(-20))).toContain('later than the clock of this node');
  });

  it('is refused with the timestamp of another signature', async () => {
    const other = signProgram(program, issuing.issue('other', [], SHORT), [issuing]);
    const token = tokenFor(other, { by: stamper, authorities: [stampIssuing], at: hours(-50) });
    const found = await refusalOf(addUnsigned(unstamped, [[RFC_3161, token]]), rule);
    expect(found).toContain('its timestamp does not count: it belongs to another signature');
  });

  it('is taken when one of several timestamps counts, of the first four', async () => {
    const token = { by: stamper, authorities: [stampIssuing], at: hours(-50) };
    const by = createCertificateAuthority('stranger').issue('by', [], STAMPS);
    const good = tokenFor(unstamped, token);
    const late = tokenFor(unstamped, { ...token, at: hours(-20) });
    const stranger = tokenFor(unstamped, { ...token, by });
    const refusal = (...tokens: readonly Buffer[]) => refusalOf(stampedBy(tokens), rule);
    expect(await refusal(stranger, late, good)).toBeUndefined();
    expect(await refusal(good, stranger)).toBeUndefined();
    expect(await refusal(late, late, late, late, good)).toContain('at its');
  });

  it('is refused with a signed text that is no timestamp, and with other bytes in its place', async () => {
    const text = {
      by: stamper,
      authorities: [stampIssuing],
      at: hours(-50),
      contentType: '1.2.840.113549.1.7.1',
    };
    expect(await refusalOf(withToken(text), rule)).toContain('it is no RFC 3161 token');
    for (const value of ['0500', '3000', '0403616263', '3080', '300b06092a864886f70d010702'])
      expect(
        await refusalOf(addUnsigned(unstamped, [[RFC_3161, Buffer.from(value, 'hex')]]), rule),
      ).toMatch(/its timestamp does not count|the signature has no timestamp|not valid/);
  });

  it('is refused with a countersignature of the older form, which the message names', async () => {
    const value = Buffer.from('3000', 'hex');
    const found = await refusalOf(addUnsigned(unstamped, [['1.2.840.113549.1.9.6', value]]), rule);
    expect(found).toContain('sign with signtool /tr, not /t');
  });

  it('ignores timestamps while its certificate is valid', async () => {
    const now = hours(-50);
    for (const bytes of [
      unstamped,
      inTime,
      addUnsigned(unstamped, [[RFC_3161, Buffer.from('0500', 'hex')]]),
    ])
      expect(await refusalOf(bytes, rule, now)).toBeUndefined();
  });

  it('is refused when its certificate ends its signatures with itself', async () => {
    const purposes = [CODE_SIGNING, '1.3.6.1.4.1.311.10.3.13'];
    const lifetime = issuing.issue('lifetime', [], { ...SHORT, purposes });
    const bytes = stamped(hours(-50), stamper, lifetime);
    expect(await refusalOf(bytes, rule)).toContain('lifetime signing');
    expect(await refusalOf(bytes, rule, hours(-50))).toBeUndefined();
  });

  it.each(['sha256', 'sha384', 'sha512'] as const)('counts a timestamp with %s', async (hash) => {
    const token = { by: stamper, authorities: [stampIssuing], at: hours(-50) };
    expect(
      await refusalOf(withToken({ ...token, imprint: hash, digest: hash }), rule),
    ).toBeUndefined();
    expect(await refusalOf(withToken({ ...token, imprint: hash }), rule)).toBeUndefined();
  });

  it('is refused with a timestamp whose digests are weaker than SHA-256', async () => {
    const token = { by: stamper, authorities: [stampIssuing], at: hours(-50) };
    for (const weak of [{ imprint: 'sha1' }, { digest: 'sha1' }] as const)
      expect(await refusalOf(withToken({ ...token, ...weak }), rule)).toContain(
        'its timestamp does not count: its digest is weaker than SHA-256',
      );
  });

  it('is refused whichever byte of the time, or of its signature, was changed', async () => {
    const info = inTime.indexOf(Buffer.from('02010106042a030401', 'hex'));
    const attributes = inTime.lastIndexOf(Buffer.from('2a864886f70d010903', 'hex'));
    expect([info, attributes]).not.toContain(-1);
    const taken: number[] = [];
    for (const at of [...range(info, info + 110), ...range(attributes, inTime.length)]) {
      const bytes = Buffer.from(inTime);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x11, at);
      if ((await refusalOf(bytes, rule)) === undefined) taken.push(at);
    }
    expect(taken).toEqual([]);
  });
});

function withToken(token: TestToken): Buffer {
  return stampedBy([tokenFor(unstamped, token)]);
}

function stampedBy(tokens: readonly Buffer[]): Buffer {
  return addUnsigned(
    unstamped,
    tokens.map((token) => [RFC_3161, token] as const),
  );
}

const range = (from: number, to: number) =>
  Array.from({ length: Math.ceil((to - from) / 3) }, (_, at) => from + 3 * at);
