// Signs wins.exe with Authenticode. Verifies the signature with osslsigncode, then with the code that nodes use for `upgrade.signedBy`.
import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from './programs.mjs';

export const SIGN_OPTIONS = /** @type {const} */ ({
  sign: { type: 'boolean', default: false },
  pfx: { type: 'string' },
  'pkcs11-module': { type: 'string' },
  'pkcs11-key': { type: 'string' },
  certs: { type: 'string' },
  'password-file': { type: 'string' },
  timestamp: { type: 'string' },
  ca: { type: 'string' },
  'signed-by': { type: 'string' },
  'timestamped-by': { type: 'string' },
});
const PASSWORD = 'WINS_SIGN_PASSWORD';
/** Long after the certificates of all signers of today have expired. */
const LATER = new Date(Date.now() + 30 * 366 * 86_400_000);
const SYSTEM_CA = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Removes the password from the environment, so that child processes do not inherit it.
 *
 * @returns Arguments and password for signing; undefined without `--sign`.
 */
export function signerOf(values) {
  const { [PASSWORD]: fromEnvironment = '' } = process.env;
  delete process.env[PASSWORD];
  if (!values.sign) {
    const given = Object.keys(SIGN_OPTIONS).filter((name) => name !== 'sign' && values[name]);
    if (given.length > 0) throw new Error(`--${given[0]} needs --sign`);
    return undefined;
  }
  const { pfx, 'pkcs11-module': module, 'pkcs11-key': key, certs, timestamp } = values;
  const { ca = SYSTEM_CA, 'password-file': passwordFile } = values;
  const { 'signed-by': signedBy = '', 'timestamped-by': timestampedBy } = values;
  if ((pfx === undefined) === (module === undefined))
    throw new Error('--sign needs either --pfx FILE or --pkcs11-module FILE');
  if (module !== undefined && (key === undefined || certs === undefined))
    throw new Error('--pkcs11-module needs --pkcs11-key URI and --certs FILE');
  if (signedBy === '')
    throw new Error(
      '--sign needs --signed-by: the SHA-256 thumbprint in the configs of nodes, or a file with the PEM there',
    );
  if (timestamp !== undefined && !/^https?:\/\/[\x21-\x7e]+$/.test(timestamp))
    throw new Error('--timestamp must be the address of an RFC 3161 authority');
  if (timestampedBy !== undefined && timestamp === undefined)
    throw new Error('--timestamped-by needs --timestamp');
  const files = [pfx, module, certs, ca, passwordFile].filter((file) => file !== undefined);
  for (const file of files)
    if (!existsSync(file)) throw new Error(`the file ${file} does not exist`);
  const from =
    pfx === undefined ? ['-pkcs11module', module, '-key', key, '-certs', certs] : ['-pkcs12', pfx];
  const stamp = timestamp === undefined ? [] : ['-ts', timestamp];
  return {
    words: ['sign', '-h', 'sha256', '-n', 'rancher-wins', ...stamp, ...from, '-readpass', '-'],
    password:
      passwordFile === undefined
        ? fromEnvironment
        : readFileSync(passwordFile, 'utf8').replace(/\r?\n$/, ''),
    ca,
    rule: {
      signedBy: listed('signed-by', signedBy).map((certificate) => ({ certificate })),
      timestampedBy: timestampedBy === undefined ? [] : listed('timestamped-by', timestampedBy),
    },
  };
}

/** Returns the certificates as a config has them: a thumbprint, or the PEM blocks of a file. */
function listed(option, text) {
  if (/^[0-9a-f]{64}$/i.test(text)) return [text.toLowerCase()];
  const blocks =
    existsSync(text) &&
    readFileSync(text, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (blocks) return blocks;
  throw new Error(`--${option} must be a SHA-256 thumbprint, or a file with PEM certificates`);
}

/** Signs an executable in place. Removes it on failure, so that no unsigned file remains where a signed one is expected. */
export async function signExecutable(file, { words, password, ca, rule }) {
  const signed = `${file}.signed`;
  try {
    osslsigncode([...words, '-in', file, '-out', signed], password);
    osslsigncode(['verify', '-CAfile', ca, '-in', signed], '');
    const require = createRequire(import.meta.url);
    const { readSignature } = require(path.join(root, 'dist', 'wins-upgrade.cjs'));
    const reader = readSignature();
    let position = 0;
    for await (const block of createReadStream(signed, { highWaterMark: 2 ** 18 })) {
      await reader.take(block, position);
      position += block.length;
    }
    const found = await reader.refuse(rule);
    if (found !== undefined) throw new Error(`no node would accept the signed program: ${found}`);
    const later = rule.timestampedBy.length > 0 && (await reader.refuse(rule, LATER));
    if (later) throw new Error(`no node would accept the signed program in 30 years: ${later}`);
    renameSync(signed, file);
  } catch (error) {
    for (const each of [signed, file]) rmSync(each, { force: true });
    throw error;
  }
}

/** Passes the password on standard input, because other users can read command lines. */
function osslsigncode(words, password) {
  const input = `${password}\n`;
  const { error, status, ...said } = spawnSync('osslsigncode', words, { input, encoding: 'utf8' });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT')
    throw new Error('osslsigncode is not installed; run apt-get install osslsigncode', {
      cause: error,
    });
  if (status === 0) return;
  const text = `${said.stdout}${said.stderr}`.trim();
  const shown = password === '' ? text : text.replaceAll(password, '…');
  throw new Error(`osslsigncode ${words[0]} failed: ${shown}`);
}
