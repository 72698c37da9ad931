import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { changedJson, generateChanges } from '../changed-json.mjs';

const LIMITS = {
  documentBytes: 65_536,
  layerBytes: 1 << 20,
  layers: 4,
  unpackedBytes: 1 << 20,
  entries: 200,
  pathUnits: 65_536,
  idleMs: 200,
};
const NAMES = [
  'a',
  'b',
  'a/b',
  'a/b/c',
  './a',
  'a/',
  '/a',
  '..',
  '../outside',
  'a/../../outside',
  '',
  '.',
  '.wh.a',
  'a/.wh.b',
  '.wh..wh..opq',
  'a/.wh..wh..opq',
  '.wh...',
  '.wh.',
  'a\\b',
  'C:\\x',
  'NUL',
  'a\0b',
  '\u202e',
  '\ud800',
  'x'.repeat(300),
  'a/'.repeat(90),
  'c:ads',
  'a.',
  'A',
];
const TYPES = [
  '0',
  '0',
  '0',
  '5',
  '5',
  '2',
  '2',
  '1',
  '1',
  '\0',
  '7',
  '3',
  '4',
  '6',
  'x',
  'g',
  'L',
  'K',
  'S',
  'Z',
];
const SIZES = [...Array(12), 0, 1, 511, 512, 513, 1e6, 2 ** 33 - 1, -1];
const PAX = [
  '30 path=../outside-of-it-all\n',
  '18 size=99999999\n',
  '22 GNU.sparse.major=1\n',
  '9 path=a\n',
  'x',
  '999999 path=a\n',
  '0 =\n',
  '25 linkpath=../../outside\n',
];
const CHALLENGES = [
  'Bearer realm="BASE/token",service="s"',
  'Bearer realm="BASE/token",scope="repository:other:push"',
  'Basic realm="x"',
  'Bearer',
  'Bearer realm="http://other.invalid/"',
  'Bearer realm="\\"',
  'Bearer realm=BASE/token, Basic realm="a\\\\"',
  ','.repeat(8000),
  'a '.repeat(4000),
  `${'a="'.repeat(2000)}`,
];
const STATUSES = [200, 200, 200, 200, 206, 204, 301, 307, 400, 401, 403, 404, 429, 500, 503];

/**
 * Opens a fuzz target that unpacks images from a hostile registry. Unpacking must never write outside its folder or exceed the limits. Each error
 * must be an `AgentError` with a printable message.
 */
export async function openRegistry({ imageStore, posixFileTrust, AgentError }) {
  const root = mkdtempSync(path.join(tmpdir(), 'wins-fuzz-registry-'));
  const [images, folder, outside] = ['images', 'folder', 'outside'].map((name) =>
    path.join(root, name),
  );
  mkdirSync(images);
  writeFileSync(outside, 'as it was');
  /** @type {Map<string, Buffer>} */
  let content = new Map();
  let changes = [];
  let tokens = Buffer.from('{}');
  let base = '';
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', base);
    const change = changes.shift();
    const found = pathname === '/token' ? tokens : content.get(pathname.replace('/v2/x/', ''));
    const octets = found ?? Buffer.from('{}');
    const status = change?.status ?? (found === undefined && pathname !== '/v2/' ? 404 : 200);
    const isKnown = request.headers.authorization !== undefined || change === undefined;
    const headers = {
      ...(change?.challenge !== undefined &&
        !isKnown && { 'www-authenticate': change.challenge.replaceAll('BASE', base) }),
      ...(change?.location !== undefined && { location: change.location.replace('BASE', base) }),
      ...(change?.length !== undefined && { 'content-length': String(change.length) }),
    };
    response.on('error', () => undefined);
    response.writeHead(status, headers);
    const end = change?.cut === undefined ? octets.length : change.cut % (octets.length + 1);
    response.write(octets.subarray(0, end));
    if (change?.isBroken === true) response.destroy();
    else response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  base = `http://127.0.0.1:${port}`;
  const store = imageStore({
    imagesDirectory: images,
    registriesFiles: [],
    environment: {},
    limits: LIMITS,
    platform: { os: 'linux', arch: 'amd64' },
    trust: posixFileTrust(),
    onWarning: () => undefined,
    clock: {
      now: () => new Date(),
      monotonicMs: () => performance.now(),
      wait: (ms) => (ms > 600_000 ? new Promise(() => undefined) : Promise.resolve()),
    },
  });

  return {
    name: 'registry',
    generate: (rng) => ({
      steps: rng.list(8, () => member(rng)),
      octets: rng.list(rng.pick([0, 0, 0, 2]), () => [rng.below(4096), rng.below(256)]),
      packing: rng.pick(['tar', 'tar', 'gzip', 'gzip', 'gzip', 'bomb', 'raw', 'none']),
      manifest: rng.chance(0.1) ? generateChanges(rng, manifestOf(Buffer.of(), Buffer.of())) : [],
      config: rng.chance(0.1) ? generateChanges(rng, configOf(Buffer.of())) : [],
      token: generateChanges(rng, { token: 't', access_token: 'u' }),
      answers: rng.list(rng.pick([0, 0, 0, 3]), () => answer(rng)),
    }),
    async run({ steps, octets, packing, manifest, config, token, answers }) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      const tar = tarOf(steps, octets);
      const layer = pack(tar, packing);
      // Digests are correct, so that cases also reach the code after the digest check.
      const image = Buffer.from(changedJson(configOf(unpacked(tar, packing)), config));
      const text = Buffer.from(changedJson(manifestOf(image, layer), manifest));
      content = new Map([['manifests/v1', text]]);
      for (const one of [image, layer, text]) content.set(`blobs/${digestOf(one)}`, one);
      content.set(`manifests/${digestOf(text)}`, text);
      tokens = Buffer.from(changedJson({ token: 't', access_token: 'u' }, token));
      changes = structuredClone(answers);
      try {
        const { signal } = new AbortController();
        await store.unpack(`127.0.0.1:${port}/x:v1`, folder, { signal });
      } catch (error) {
        if (!(error instanceof AgentError)) throw error;
        const { message } = /** @type {Error} */ (error);
        if (/[\p{Cc}\p{Zl}\p{Zp}\u202e]/u.test(message))
          throw new Error(`not to be shown: ${JSON.stringify(message)}`, { cause: error });
      }
      const beside = readdirSync(root).sort().join();
      if (beside !== 'folder,images,outside' || readFileSync(outside, 'utf8') !== 'as it was')
        throw new Error(`a file outside the folder was changed: ${beside}`);
      const { entries, octets: kept } = sizeOf(folder);
      if (entries > LIMITS.entries || kept > LIMITS.unpackedBytes)
        throw new Error(`${entries} entries of ${kept} octets were unpacked`);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(root, { recursive: true });
    },
  };
}

function member(rng) {
  return [
    rng.pick(TYPES),
    anyName(rng),
    anyName(rng),
    rng.pick(SIZES) ?? null,
    rng.choose([3, () => rng.below(600)], [1, () => rng.pick(PAX)]),
    rng.below(0o10000),
  ];
}

const anyName = (rng) => rng.pick(rng.chance(0.7) ? NAMES.slice(0, 6) : NAMES);

function answer(rng) {
  return {
    status: rng.pick(STATUSES),
    challenge: rng.pick(CHALLENGES),
    ...(rng.chance(0.2) && {
      location: rng.pick([
        '/',
        'BASE/v2/x/manifests/v1',
        'http://x.invalid',
        'file:///etc/passwd',
        '\u00ff',
        '//',
        'http://[',
      ]),
    }),
    ...(rng.chance(0.1) && { length: rng.pick([0, 1, 3, 1 << 30]) }),
    ...(rng.chance(0.2) && { cut: rng.below(5000) }),
    ...(rng.chance(0.1) && { isBroken: true }),
  };
}

const digestOf = (octets) => `sha256:${createHash('sha256').update(octets).digest('hex')}`;
const described = (octets) => ({ digest: digestOf(octets), size: octets.length });
const manifestOf = (config, layer) => ({
  schemaVersion: 2,
  config: described(config),
  layers: [described(layer)],
});
const configOf = (tar) => ({ os: 'linux', rootfs: { diff_ids: [digestOf(tar)] }, history: [{}] });

/** Headers have correct checksums but arbitrary content. */
function tarOf(members, octets) {
  const parts = members.flatMap(([type, name, link, size, body, mode]) => {
    const data = typeof body === 'number' ? Buffer.alloc(body, 97) : Buffer.from(body);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write(mode.toString(8).padStart(7, '0'), 100);
    const claimed = size ?? data.length;
    header.write(
      claimed < 0 ? '-1' : Math.min(claimed, 0o77777777777).toString(8).padStart(11, '0'),
      124,
    );
    header.write(' '.repeat(8), 148);
    header.write(type, 156, 'latin1');
    header.write(link, 157, 100);
    header.write('ustar\x0000', 257, 'latin1');
    const sum = header.reduce((all, octet) => all + octet, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  const tar = Buffer.concat([...parts, Buffer.alloc(1024)]);
  for (const [at, octet] of octets) tar[at % tar.length] = octet;
  return tar;
}

function unpacked(tar, packing) {
  return packing === 'bomb' ? Buffer.concat([tar, Buffer.alloc(8 << 20)]) : tar;
}

function pack(tar, packing) {
  if (packing === 'gzip' || packing === 'bomb') return gzipSync(unpacked(tar, packing));
  if (packing === 'raw') return deflateRawSync(tar);
  return packing === 'none' ? Buffer.alloc(0) : tar;
}

function sizeOf(folder) {
  const found = { entries: 0, octets: 0 };
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    found.entries += 1;
    const location = path.join(folder, entry.name);
    if (entry.isFile()) found.octets += readFileSync(location).length;
    if (!entry.isDirectory()) continue;
    const inside = sizeOf(location);
    found.entries += inside.entries;
    found.octets += inside.octets;
  }
  return found;
}
