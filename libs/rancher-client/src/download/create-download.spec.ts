import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { LeapingClock } from '@wins/net/testing';
import { createCertificateAuthority } from '@wins/base/testing';
import {
  answer,
  byteByByte,
  cutAfter,
  drip,
  endless,
  redirectTo,
  silent,
  stallAfter,
  withoutLength,
  type RancherDouble,
  type RancherFault,
} from '../testing/index.js';
import { closeServers, failureOf, proxy, rancher, settings } from '../testing/server-harness.js';
import { createDownload, type DownloadOptions, type DownloadWanted } from './create-download.js';

afterEach(closeServers);

const PATH = '/assets/wins.exe';
const MAGIC = Buffer.from('MZ');
const FILE = Buffer.concat([MAGIC, randomBytes(200_000)]);
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const SHA256 = sha256Of(FILE);

interface Fetched {
  readonly server: RancherDouble;
  readonly fetch: (
    wanted?: Partial<DownloadWanted>,
    options?: DownloadOptions,
    path?: string,
  ) => ReturnType<ReturnType<typeof createDownload>>;
}

async function start(file = FILE, plain = false): Promise<Fetched> {
  const server = await rancher({ plain, assets: { 'wins.exe': file } });
  return {
    server,
    fetch: (wanted, options, path = PATH) => {
      const roots = [server.ca];
      const download = createDownload({ ...settings(), roots, timeoutMs: 0, ...options });
      const all = { maxBytes: 1_000_000, magic: MAGIC, ...wanted };
      return download(server.url + path, all);
    },
  };
}

describe('a download', () => {
  it('may come from a server with any certificate, when its digest is known', async () => {
    const { fetch } = await start();
    const any = { roots: [] };
    expect(await failureOf(fetch({ sha256: SHA256 }, any))).toMatchObject({
      code: 'unknownAuthority',
    });
    const anyCertificate = { ...any, anyCertificate: true };
    expect(await failureOf(fetch({}, anyCertificate))).toMatchObject({ code: 'invalidRequest' });
    const { content } = await fetch({ sha256: SHA256 }, anyCertificate);
    expect(content.equals(FILE)).toBe(true);
  });

  it('is verified by its digest', async () => {
    const { fetch, server } = await start();
    const { content, sha256 } = await fetch({ sha256: SHA256.toUpperCase() });
    expect([content.equals(FILE), sha256]).toEqual([true, SHA256]);
    expect(server.requests[0]?.headers).toMatchObject({ 'accept-encoding': 'identity' });
  });

  it('is verified by TLS without a digest, which it then tells', async () => {
    const { fetch } = await start();
    const { content, sha256 } = await fetch();
    expect([content.equals(FILE), sha256]).toEqual([true, SHA256]);
  });

  it.each([1, 2, 3, 511, 512, 513])('may have %i bytes', async (size) => {
    const file = FILE.subarray(0, size);
    const { fetch } = await start(file);
    const { content } = await fetch({
      sha256: sha256Of(file),
      magic: MAGIC.subarray(0, size),
    });
    expect(content.equals(file)).toBe(true);
  });

  it('may come byte by byte', async () => {
    const file = FILE.subarray(0, 700);
    const { fetch, server } = await start(file);
    server.script(PATH, [byteByByte]);
    const { content } = await fetch({ sha256: sha256Of(file) });
    expect(content.equals(file)).toBe(true);
  });

  it('may be sent to another server, which has to be known too', async () => {
    const { fetch, server } = await start();
    const authority = createCertificateAuthority('other');
    const other = await rancher({ authority, assets: { 'wins.exe': FILE } });
    server.script(PATH, [redirectTo(other.url + PATH)], { forEver: true });
    const wanted = { sha256: SHA256 };
    const both = { roots: [server.ca, other.ca] };
    expect(await fetch(wanted, both)).toMatchObject({ sha256: SHA256 });
    expect(await failureOf(fetch(wanted, { roots: [server.ca] }))).toMatchObject({
      code: 'unknownAuthority',
    });
  });

  it('comes through a proxy', async () => {
    const { server } = await start();
    server.rotate();
    const other = await rancher({ names: ['files.invalid'], assets: { 'wins.exe': FILE } });
    const between = await proxy({ hosts: { 'files.invalid:443': other.port } });
    const environment = { HTTPS_PROXY: between.host };
    const download = createDownload({ ...settings({ environment }), roots: [other.ca] });
    const wanted = { maxBytes: 1_000_000, sha256: SHA256 };
    const { content } = await download(`https://files.invalid${PATH}`, wanted);
    expect(content.equals(FILE)).toBe(true);
  });
});

describe('a download that is refused', () => {
  const gzip = gzipSync(Buffer.alloc(10_000_000));
  const faults: [string, RancherFault, string, Partial<DownloadWanted>?][] = [
    ['as 404', answer(404, 'none'), 'badStatus'],
    [
      'as a page with status 200',
      answer(200, '<!DOCTYPE html><html>', { 'content-type': 'text/html' }),
      'badShape',
    ],
    [
      'as a page that says nothing of it',
      answer(200, '\n<!doctype HTML>x'),
      'badShape',
      { magic: new Uint8Array() },
    ],
    [
      'as a page behind a byte order mark',
      answer(200, '\ufeff<html lang="en">'),
      'badShape',
      { magic: new Uint8Array() },
    ],
    ['for other first bytes', answer(200, 'ELF'), 'badShape'],
    ['for half of the first bytes', answer(200, 'M'), 'badShape'],
    ['as empty', answer(200, ''), 'badShape', { magic: new Uint8Array() }],
    ['as encoded', answer(200, gzip, { 'content-encoding': 'gzip' }), 'badShape'],
    ['without its length', withoutLength(FILE), 'badShape'],
    ['as declared too large', answer(200, 'MZ', { 'content-length': '1000001' }), 'tooLarge'],
    ['because it is cut off in the head', cutAfter(30), 'interrupted'],
    ['because it is cut off in the first bytes', cutAfter(200), 'interrupted'],
    ['because it is sent to http', redirectTo(`http://127.0.0.1${PATH}`), 'redirectRefused'],
    ['because it is sent on and on', redirectTo(PATH), 'redirectRefused'],
  ];

  it.each(faults)('%s gives no file', async (_title, fault, code, wanted = {}) => {
    const { fetch, server } = await start();
    server.script(PATH, [fault], { forEver: true });
    const failure = await failureOf(fetch(wanted));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(`cannot download "${server.url}${PATH}": `);
  });

  it('for a file that Rancher does not have says so', async () => {
    const { fetch } = await start();
    const failure = await failureOf(fetch({ sha256: SHA256 }, {}, '/assets/other.exe'));
    expect(failure.message).toContain('found an HTML page');
    expect(failure.message).toContain('does not have the file');
  });

  it('for another digest tells both', async () => {
    const { fetch } = await start();
    const sha256 = '0'.repeat(64);
    const failure = await failureOf(fetch({ sha256 }));
    expect(failure).toMatchObject({ code: 'digestMismatch', isTransient: false });
    expect(failure.message).toContain(`found the SHA-256 ${SHA256}; wanted ${sha256}`);
  });

  it('because it is cut off without a length has another digest', async () => {
    const { fetch, server } = await start();
    server.script(PATH, [withoutLength(FILE.subarray(0, 1000))]);
    expect(await failureOf(fetch({ sha256: SHA256 }))).toMatchObject({ code: 'digestMismatch' });
  });

  it.each([
    ['endless', endless()],
    ['endless, and says that it is short', endless({ connection: 'close' })],
  ])('as %s is so once the limit is reached', async (_title, fault) => {
    const { fetch, server } = await start();
    server.script(PATH, [fault]);
    const failure = await failureOf(fetch({ magic: new Uint8Array(), sha256: SHA256 }));
    expect(failure.code).toBe('tooLarge');
  });

  it.each([
    ['is silent', silent],
    ['stalls before the first byte', stallAfter('')],
    ['stalls after it', stallAfter('MZ')],
  ])('because the server %s is so after the limit of silence', async (_title, fault) => {
    const { fetch, server } = await start();
    server.script(PATH, [fault]);
    const limits = { answerMs: 100, idleMs: 100 };
    const failure = await failureOf(fetch({}, { limits }));
    expect(failure.code).toBe('timedOut');
    expect(failure.message).toContain('within 100 ms');
  });

  it('because the server drips is so after the limit of the whole', async () => {
    const { fetch, server } = await start();
    server.script(PATH, [drip(5)]);
    const limits = { idleMs: 60_000, totalMs: 100 };
    const failure = await failureOf(fetch({ magic: new Uint8Array(), sha256: SHA256 }, { limits }));
    expect(failure.code).toBe('timedOut');
    expect(failure.message).toContain('had not ended within 100 ms');
  });

  it.each([
    [{ sha256: 'abc' }, PATH],
    [{ maxBytes: 0 }, PATH],
    [{ maxBytes: Infinity }, PATH],
    [{ maxBytes: 1.5 }, PATH],
  ])('%j is so before anything is asked', async (wanted, path) => {
    const { fetch, server } = await start();
    expect(await failureOf(fetch(wanted, {}, path))).toMatchObject({ code: 'invalidRequest' });
    expect(server.requests).toEqual([]);
  });

  it.each([
    'http://files.example/x',
    'https://me:canary@files.example/x',
    'x',
    'file:///etc/passwd',
  ])('from %s is so before anything is asked', async (url) => {
    const download = createDownload(settings());
    const failure = await failureOf(download(url, { maxBytes: 1 }));
    expect(failure.code).toBe('invalidRequest');
    expect(failure.message).not.toContain('canary');
  });

  it('does not tell the query of its address, which may be signed', async () => {
    const { fetch } = await start();
    const failure = await failureOf(fetch({}, {}, '/none?signature=canary'));
    expect(failure.message).not.toContain('canary');
  });

  it('because nobody knows the server is so before a byte came', async () => {
    const { fetch, server } = await start();
    const roots = [createCertificateAuthority('x').cert];
    expect(await failureOf(fetch({ sha256: SHA256 }, { roots }))).toMatchObject({
      code: 'unknownAuthority',
    });
    expect(server.requests).toEqual([]);
  });
});

describe('a download without TLS', () => {
  const plain = async () => {
    const server = await rancher({ plain: true, assets: { 'wins.exe': FILE } });
    const download = createDownload({ ...settings(), allowHttp: true, timeoutMs: 0 });
    const fetch = (wanted: Partial<DownloadWanted>) =>
      download(server.url + PATH, { maxBytes: 1_000_000, ...wanted });
    return { server, fetch };
  };

  it('is allowed with a digest where http is', async () => {
    const { fetch } = await plain();
    expect(await fetch({ sha256: SHA256 })).toMatchObject({ sha256: SHA256 });
  });

  it('is refused without one', async () => {
    const { fetch, server } = await plain();
    const failure = await failureOf(fetch({}));
    expect(failure.message).toContain('wanted https://, or the SHA-256 of the file');
    expect(server.requests).toEqual([]);
  });
});

describe('a download that is interrupted', () => {
  it('at any byte gives no file', async () => {
    const file = FILE.subarray(0, 24);
    // Without TLS, because there is a connection for each byte.
    const { fetch: fetchBy, server } = await start(file, true);
    const fetch = () => fetchBy({ sha256: sha256Of(file) }, { allowHttp: true });
    await fetch();
    // The headers always have the same length, so that each attempt is cut one byte later.
    const head = { 'content-type': 'application/octet-stream', date: 'x' };
    const whole: RancherFault = (_request, response) =>
      void response.writeHead(200, { ...head, 'content-length': file.length }).end(file);
    let cuts = 0;
    for (let bytes = 0; ; bytes += 1) {
      server.script(PATH, [(...args) => cutAfter(bytes)(args[0], args[1], () => whole(...args))]);
      const outcome = await fetch().catch((error: unknown) => error);
      if (!(outcome instanceof Error)) break;
      expect(outcome).toMatchObject({ code: 'interrupted' });
      cuts += 1;
    }
    expect(cuts).toBeGreaterThan(file.length + 100);
  });

  it('is asked for again, even when something came', async () => {
    const { fetch, server } = await start();
    const busy = answer(503, '', { 'retry-after': '9' });
    server.script(PATH, [busy, cutAfter(10), cutAfter(100_000)]);
    const clock = new LeapingClock();
    const { content } = await fetch({ sha256: SHA256 }, { clock, timeoutMs: 900_000 });
    expect(clock.waits).toEqual([9000, 2000, 4000]);
    expect(content.equals(FILE)).toBe(true);
  });

  it.each(['in the settings', 'of the download'])('by a signal %s is over', async (where) => {
    const { fetch, server } = await start();
    server.script(PATH, [stallAfter('MZ')]);
    const control = new AbortController();
    const { signal } = control;
    const fetching =
      where === 'of the download'
        ? fetch({ signal })
        : fetch({ signal: new AbortController().signal }, { signal });
    await server.received(PATH);
    control.abort();
    expect(await failureOf(fetching)).toMatchObject({ code: 'aborted' });
  });
});
