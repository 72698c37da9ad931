import { CODE_SIGNING, createCertificateAuthority, TIME_STAMPING } from '@wins/base/testing';
import {
  describeSigned,
  refusalOf,
  signProgram,
  smallProgram,
  thumbprintOf,
} from '../testing/signing.js';

const SIGNS = { purposes: [CODE_SIGNING] };
const IDENTITY = '1.3.6.1.4.1.311.97.990309390.766961637.194916062.941502583';
const root = createCertificateAuthority('root');
const issuing = createCertificateAuthority('issuing', root);
const leaf = issuing.issue('leaf', [], SIGNS);
const program = smallProgram();

describeSigned('a program whose file lacks certificates', () => {
  // As signtool does it: roots stay out of the file.
  const withIssuing = signProgram(program, leaf, [issuing]);
  const alone = signProgram(program, leaf);

  it('is refused under the thumbprint of its root, and the message names the absent certificate and the next step', async () => {
    const found = await refusalOf(withIssuing, [thumbprintOf(root)]);
    expect(found).toBe(
      `found "CN=leaf" (${thumbprintOf(leaf)}), issued by "CN=issuing" (${thumbprintOf(issuing)}), issued by "CN=root", whose certificate is not in the file; wanted a signature by ${thumbprintOf(root)} (upgrade.signedBy). To accept programs that "CN=root" certifies, list its certificate as PEM`,
    );
    expect(await refusalOf(alone, [thumbprintOf(issuing)])).toContain(
      '"CN=leaf" (' +
        thumbprintOf(leaf) +
        '), issued by "CN=issuing", whose certificate is not in the file',
    );
  });

  it('is taken when the config has the certificate of its root, or of its issuer', async () => {
    expect(await refusalOf(withIssuing, [root.cert])).toBeUndefined();
    expect(await refusalOf(withIssuing, [issuing.cert])).toBeUndefined();
    expect(await refusalOf(alone, [issuing.cert])).toBeUndefined();
    expect(await refusalOf(alone, [leaf.cert])).toBeUndefined();
  });

  it('is taken by a listed root when another entry of the config has the certificate between', async () => {
    expect(await refusalOf(alone, [root.cert])).toContain('"CN=issuing", whose certificate is not');
    expect(await refusalOf(alone, [root.cert, thumbprintOf(issuing)])).toContain(
      '"CN=issuing", whose',
    );
    const other = createCertificateAuthority('other');
    const both = signProgram(program, leaf, [createCertificateAuthority('issuing', other)]);
    expect(await refusalOf(both, [root.cert])).toContain('"CN=root"');
  });

  it('is refused under another root of the same name, whose key differs', async () => {
    const impostor = createCertificateAuthority('root');
    const found = await refusalOf(withIssuing, [impostor.cert]);
    expect(found).toMatch(/issued by "CN=root" \([0-9a-f]{64}\), whose key is another; wanted/);
    expect(await refusalOf(withIssuing, [impostor.cert, root.cert])).toBeUndefined();
  });

  it('is refused when the listed certificate is no authority, unless it is that of the signer', async () => {
    const ended = issuing.issue('ended', [], SIGNS);
    const above = createCertificateAuthority('below', {
      ...issuing,
      ...ended,
      commonName: 'ended',
    });
    const code = above.issue('code', [], SIGNS);
    const found = await refusalOf(signProgram(program, code, [above]), [ended.cert]);
    expect(found).toMatch(/issued by "CN=ended" \([0-9a-f]{64}\), which is not an authority/);
  });

  it('names the wanted certificates of the config, and not their text', async () => {
    const stranger = createCertificateAuthority('stranger').issue('by', [], SIGNS);
    const found = await refusalOf(signProgram(program, stranger), [root.cert]);
    expect(found).toContain(`wanted a signature by "CN=root" (${thumbprintOf(root)})`);
    expect(found).not.toContain('BEGIN');
  });
});

describeSigned('an authority above the signer', () => {
  it('counts only while it is valid, and while those below it are', async () => {
    const yesterday = new Date(Date.now() - 3_600_000);
    const stale = createCertificateAuthority('stale', root, { notAfter: yesterday });
    const code = stale.issue('code', [], SIGNS);
    const bytes = signProgram(program, code, [stale]);
    expect(await refusalOf(bytes, [root.cert])).toMatch(/"CN=stale" .*, which is valid from/);
    expect(await refusalOf(bytes, [stale.cert])).toMatch(/"CN=stale" .*, which is valid from/);
  });

  it('must be one for signers of programs, if its certificate names purposes', async () => {
    const web = createCertificateAuthority('web', root, { purposes: ['1.3.6.1.5.5.7.3.1'] });
    const signed = (by: typeof web) => signProgram(program, by.issue('code', [], SIGNS), [by]);
    for (const listed of [root, web])
      expect(await refusalOf(signed(web), [listed.cert])).toContain(
        'which may not certify keys for this purpose',
      );
    for (const purposes of [[CODE_SIGNING, TIME_STAMPING], ['2.5.29.37.0']]) {
      const code = createCertificateAuthority('code authority', root, { purposes });
      expect(await refusalOf(signed(code), [root.cert])).toBeUndefined();
    }
  });

  it('may certify no more authorities than its certificate allows', async () => {
    const top = createCertificateAuthority('top', undefined, { pathLength: 0 });
    const between = createCertificateAuthority('between', top);
    const code = between.issue('code', [], SIGNS);
    const found = await refusalOf(signProgram(program, code, [between]), [top.cert]);
    expect(found).toContain('which may not certify this many authorities');
    const direct = top.issue('code', [], SIGNS);
    expect(await refusalOf(signProgram(program, direct), [top.cert])).toBeUndefined();
  });

  it('is found through either root that has certified its key', async () => {
    const second = createCertificateAuthority('second');
    const crossed = createCertificateAuthority('issuing', second, { key: issuing.key });
    for (const order of [
      [issuing, crossed],
      [crossed, issuing],
    ]) {
      const bytes = signProgram(program, leaf, order);
      for (const listed of [root, second, crossed, issuing])
        expect(await refusalOf(bytes, [listed.cert])).toBeUndefined();
    }
  });

  it('counts for one customer only, if the entry names the purpose that the customer certificates have', async () => {
    const own = issuing.issue('own', [], { purposes: [CODE_SIGNING, IDENTITY] });
    const other = issuing.issue('other', [], { purposes: [CODE_SIGNING, `${IDENTITY}1`] });
    const rule = { signedBy: [{ certificate: root.cert, purpose: IDENTITY }] };
    expect(await refusalOf(signProgram(program, own, [issuing]), rule)).toBeUndefined();
    for (const signer of [other, leaf]) {
      const found = await refusalOf(signProgram(program, signer, [issuing]), rule);
      expect(found).toContain(`for the purpose ${IDENTITY} (upgrade.signedBy)`);
    }
    const only = issuing.issue('only', [], { purposes: [IDENTITY] });
    expect(await refusalOf(signProgram(program, only, [issuing]), rule)).toContain(
      'not for signing code',
    );
  });

  it('ends the search in a file of many authorities that certify each other', async () => {
    const same = Array.from({ length: 30 }, () =>
      createCertificateAuthority('issuing', issuing, { key: issuing.key }),
    );
    const bytes = signProgram(program, leaf, same);
    expect(await refusalOf(bytes, [thumbprintOf(root)])).toMatch(/^found /);
    const tooMany = [...same, ...same.map(() => createCertificateAuthority('issuing'))];
    expect(await refusalOf(signProgram(program, leaf, tooMany), [root.cert])).toContain(
      'wanted at most 32',
    );
  });
});
