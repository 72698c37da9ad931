// node sign-release.mjs PROGRAM OUT: signs a copy of a program with a new certificate, as OUT/signed.exe, and writes the thumbprint to OUT/signed-by.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { signerOf, signExecutable } from '../sign.mjs';

const [program, out] = process.argv.slice(2);
const inside = (name) => path.resolve(out, name);
const openssl = (...args) => execFileSync('openssl', args, { stdio: 'pipe' });

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const [key, certificate, pfx] = ['key.pem', 'certificate.pem', 'releases.pfx'].map(inside);
try {
  const purpose = ['-subj', '/CN=Test releases', '-days', '30', '-addext'];
  const request = ['req', '-x509', '-newkey', 'rsa:3072', '-nodes', ...purpose];
  openssl(...request, 'extendedKeyUsage=codeSigning', '-keyout', key, '-out', certificate);
  const files = ['-inkey', key, '-in', certificate, '-out', pfx];
  openssl('pkcs12', '-export', ...files, '-passout', 'pass:');
  const { fingerprint256 } = new X509Certificate(readFileSync(certificate));
  const signedBy = fingerprint256.replaceAll(':', '').toLowerCase();
  copyFileSync(program, inside('signed.exe'));
  const values = { sign: true, pfx, ca: certificate, 'signed-by': signedBy };
  const signer = signerOf(values);
  if (signer !== undefined) await signExecutable(inside('signed.exe'), signer);
  writeFileSync(inside('signed-by'), signedBy);
} finally {
  for (const file of [key, certificate, pfx]) rmSync(file, { force: true });
}
