import fc from 'fast-check';
import { once } from 'node:events';
import http2 from 'node:http2';
import { Duplex } from 'node:stream';
import { createAuthorityRewriter } from '../index.js';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const URL = 'npipe:////./pipe/rancher_wins';
const STAND_IN = 'npipex----.-pipe-rancher_wins';

const DATA = 0x0;
const HEADERS = 0x1;
const SETTINGS = 0x4;
const CONTINUATION = 0x9;
const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const PADDED = 0x8;
const PRIORITY = 0x20;

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

const OPENING = Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0))]);

function plain(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest = bytes.length - 127;
  const length = [127];
  for (let left = rest; ; left = Math.floor(left / 128)) {
    if (left < 128) {
      length.push(left);
      break;
    }
    length.push((left % 128) + 128);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

// :method POST and :scheme http by index; :path / by index.
const PSEUDO = Buffer.from([0x83, 0x86, 0x84]);
/** The first octet of a literal field whose name is `:authority` of the static table. */
const FORMS = { indexed: 0x41, notIndexed: 0x01, neverIndexed: 0x11 };

function authority(value: string, form: number = FORMS.indexed): Buffer {
  return Buffer.concat([Buffer.from([form]), plain(value)]);
}

function literal(name: string, value: string, form = 0x40): Buffer {
  return Buffer.concat([Buffer.from([form]), plain(name), plain(value)]);
}

function request(block: Buffer, streamId = 1): Buffer {
  return frame(HEADERS, END_HEADERS | END_STREAM, streamId, block);
}

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...new Set(places.map((at) => at % bytes.length)), bytes.length];
  sorted.sort((one, other) => one - other);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

function rewrite(chunks: readonly Buffer[]): Buffer {
  const rewriter = createAuthorityRewriter();
  // A copy each, as a socket gives them: nothing written into one may show up elsewhere.
  const out = chunks.flatMap((chunk) => rewriter.push(Buffer.from(chunk)));
  return Buffer.concat([...out, ...rewriter.end()]);
}

type Headers = Record<string, unknown>;

/** What a real HTTP/2 server reads of a client's half: the headers of `count` requests, without what Node adds. */
async function served(half: Buffer, count = 1): Promise<Headers[]> {
  const server = http2.createServer();
  const wire = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const seen: Headers[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      server.on('stream', (stream, headers) => {
        stream.on('error', () => undefined);
        seen.push(Object.fromEntries(Object.entries(headers)));
        if (seen.length === count) resolve();
      });
      server.on('session', (session) => {
        session.on('stream', (stream) => stream.on('error', () => undefined));
      });
      server.on('sessionError', reject);
      server.emit('connection', wire);
      wire.push(half);
    });
  } finally {
    wire.destroy();
  }
  return seen;
}

/** What nghttp2, as a client, sends for these requests: its own HPACK encoder at work, Huffman code and table included. */
async function sentByNode(requests: readonly http2.OutgoingHttpHeaders[]): Promise<Buffer> {
  const sent: Buffer[] = [];
  let expected = requests.length;
  let all: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (all = resolve));
  const wire = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, next) => {
      sent.push(Buffer.from(chunk));
      // One HEADERS frame per request, each in a write of its own.
      if (chunk.length > 9 && chunk[3] === HEADERS && --expected === 0) all();
      next();
    },
  });
  const session = http2.connect('http://localhost', { createConnection: () => wire });
  session.on('error', () => undefined);
  for (const headers of requests) {
    session.request(headers, { endStream: true }).on('error', () => undefined);
  }
  await done;
  session.destroy();
  wire.destroy();
  await once(wire, 'close');
  return Buffer.concat(sent);
}

describe('createAuthorityRewriter', () => {
  it.each(Object.entries(FORMS))('replaces a plain authority, literal %s', async (_name, form) => {
    const half = Buffer.concat([OPENING, request(Buffer.concat([PSEUDO, authority(URL, form)]))]);
    const out = rewrite([half]);
    expect(out.length).toBe(half.length);
    const [headers] = await served(out);
    expect(headers?.[':authority']).toBe(STAND_IN);
    expect(headers?.[':path']).toBe('/');
  });

  it('replaces it under a name that is spelt out', async () => {
    const block = Buffer.concat([PSEUDO, literal(':authority', URL)]);
    const [headers] = await served(rewrite([OPENING, request(block)]));
    expect(headers?.[':authority']).toBe(STAND_IN);
  });

  it('replaces it whatever the pipe is called on the side of the client', async () => {
    const block = Buffer.concat([PSEUDO, authority('npipe:////./pipe/My.Own-Pipe_1')]);
    const [headers] = await served(rewrite([OPENING, request(block)]));
    expect(headers?.[':authority']).toBe('npipex----.-pipe-My.Own-Pipe_1');
  });

  it('replaces it in Huffman code, and later requests may refer to the table', async () => {
    const headers = { ':method': 'POST', ':path': '/a', ':authority': URL, 'user-agent': 'x' };
    const half = await sentByNode([headers, { ...headers, ':path': '/b' }]);
    expect(half.includes(URL)).toBe(false);
    const out = rewrite([half]);
    expect(out.length).toBe(half.length);
    const seen = await served(out, 2);
    expect(seen.map((one) => [one[':path'], one[':authority'], one['user-agent']])).toEqual([
      ['/a', STAND_IN, 'x'],
      ['/b', STAND_IN, 'x'],
    ]);
  });

  it('knows the Huffman code of every character that an authority may have', async () => {
    const name =
      "-._~!$&'()*+,;=:@%[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (const character of name) {
      const url = `${URL}${character}`;
      const half = await sentByNode([{ ':method': 'POST', ':path': '/', ':authority': url }]);
      expect(half.includes(url)).toBe(false);
      const [headers] = await served(rewrite([half]));
      const standIn = { ':': 'x', '@': '~' }[character] ?? character;
      expect(headers?.[':authority']).toBe(`${STAND_IN}${standIn}`);
    }
  });

  it('replaces it in later requests when the first one had it, whatever comes between', async () => {
    const block = Buffer.concat([PSEUDO, authority(URL, FORMS.notIndexed)]);
    const other = Buffer.concat([PSEUDO, authority('localhost', FORMS.notIndexed)]);
    const out = rewrite([OPENING, request(block, 1), request(other, 3), request(block, 5)]);
    const seen = await served(out, 3);
    expect(seen.map((one) => one[':authority'])).toEqual([STAND_IN, 'localhost', STAND_IN]);
  });

  it('reads past padding and priority', async () => {
    const block = Buffer.concat([PSEUDO, authority(URL)]);
    const padded = Buffer.concat([Buffer.from([7, 0, 0, 0, 0, 15]), block, Buffer.alloc(7)]);
    const flags = END_HEADERS | END_STREAM | PADDED | PRIORITY;
    const [headers] = await served(rewrite([OPENING, frame(HEADERS, flags, 1, padded)]));
    expect(headers?.[':authority']).toBe(STAND_IN);
  });

  it('reads a block that is spread over CONTINUATION frames, wherever they are cut', async () => {
    const block = Buffer.concat([PSEUDO, authority(URL), literal('x-after', 'kept')]);
    for (let at = 0; at <= block.length; at++) {
      const middle = Math.min(at + 3, block.length);
      const half = Buffer.concat([
        OPENING,
        frame(HEADERS, END_STREAM, 1, block.subarray(0, at)),
        frame(CONTINUATION, 0, 1, block.subarray(at, middle)),
        frame(CONTINUATION, END_HEADERS, 1, block.subarray(middle)),
      ]);
      const [headers] = await served(rewrite([half]));
      expect(headers).toMatchObject({ ':authority': STAND_IN, 'x-after': 'kept' });
    }
  });

  it('gives the same octets for any split of its input', async () => {
    const headers = { ':method': 'POST', ':path': '/x', ':authority': URL };
    const half = Buffer.concat([
      await sentByNode([headers]),
      frame(HEADERS, 0, 3, Buffer.concat([PSEUDO, authority(URL)]).subarray(0, 10)),
      frame(CONTINUATION, END_HEADERS, 3, Buffer.concat([PSEUDO, authority(URL)]).subarray(10)),
      frame(DATA, END_STREAM, 3, Buffer.from(URL)),
    ]);
    const whole = rewrite([half]);
    expect(whole.equals(half)).toBe(false);
    fc.assert(
      fc.property(fc.array(fc.nat(half.length - 1)), (places) => {
        expect(rewrite(cut(half, places)).equals(whole)).toBe(true);
      }),
    );
    expect(rewrite([...half].map((octet) => Buffer.from([octet]))).equals(whole)).toBe(true);
  });

  it('never touches DATA, or any other frame that carries no headers', () => {
    const first = request(Buffer.concat([PSEUDO, authority(URL)]));
    const others = fc.array(
      fc.record({
        type: fc.constantFrom(0x0, 0x2, 0x3, 0x4, 0x6, 0x7, 0x8, 0xfa),
        before: fc.uint8Array({ maxLength: 40 }),
        after: fc.uint8Array({ maxLength: 40 }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(others, fc.array(fc.nat()), (list, places) => {
        const rest = Buffer.concat(
          list.map(({ type, before, after }) =>
            frame(
              type,
              0,
              1,
              Buffer.concat([before, authority(URL), request(authority(URL)), after]),
            ),
          ),
        );
        const out = rewrite(cut(Buffer.concat([OPENING, first, rest]), places));
        expect(out.subarray(OPENING.length + first.length).equals(rest)).toBe(true);
        expect(out.includes(STAND_IN)).toBe(true);
      }),
    );
  });

  it('leaves every other header as it is, even one that holds the same text', async () => {
    const value = fc.stringMatching(/^[!-~]{0,30}$/);
    const field = fc.tuple(fc.stringMatching(/^x-[a-z0-9]{1,8}$/), value);
    await fc.assert(
      fc.asyncProperty(fc.array(field, { maxLength: 6 }), fc.boolean(), async (fields, late) => {
        const extra = Object.fromEntries([
          ...fields,
          ['x-url', URL] as const,
          ['referer', URL] as const,
        ]);
        const headers = late
          ? { ':method': 'POST', ':path': URL.slice(6), ...extra, ':authority': URL }
          : { ':authority': URL, ':method': 'POST', ':path': URL.slice(6), ...extra };
        const [seen] = await served(rewrite([await sentByNode([headers])]));
        expect(seen).toEqual({ ':scheme': 'http', ...headers, ':authority': STAND_IN });
      }),
      { numRuns: 40 },
    );
  });

  it.each(['localhost', 'npipe:%2F%2F.%2Fpipe%2Fx', 'npipe://a b/', 'unix:/a/b', ''])(
    'leaves the authority %j alone, and looks no further',
    (value) => {
      const rewriter = createAuthorityRewriter();
      const half = Buffer.concat([OPENING, request(Buffer.concat([PSEUDO, authority(value)]))]);
      expect(Buffer.concat(rewriter.push(half)).equals(half)).toBe(true);
      expect(rewriter.passing).toBe(true);
      const later = request(Buffer.concat([PSEUDO, authority(URL)]), 3);
      expect(rewriter.push(later)).toEqual([later]);
    },
  );

  it.each([
    [
      'a string longer than its block',
      frame(HEADERS, END_HEADERS, 1, Buffer.from([0x41, 100, 97])),
    ],
    ['an endless integer', frame(HEADERS, END_HEADERS, 1, Buffer.alloc(9, 0xff))],
    ['more padding than payload', frame(HEADERS, END_HEADERS | PADDED, 1, Buffer.from([9, 0x83]))],
    ['a CONTINUATION of nothing', frame(CONTINUATION, END_HEADERS, 1, authority(URL))],
    [
      'a block that another frame interrupts',
      Buffer.concat([frame(HEADERS, 0, 1, authority(URL)), frame(DATA, 0, 1, Buffer.alloc(3))]),
    ],
    [
      'a block that another stream interrupts',
      Buffer.concat([
        frame(HEADERS, 0, 1, authority(URL)),
        frame(CONTINUATION, END_HEADERS, 3, Buffer.alloc(0)),
      ]),
    ],
    [
      'a pipe URL in a block that is malformed further on',
      request(Buffer.concat([authority(URL), Buffer.from([0x7f])])),
    ],
  ])('passes on unchanged, from then on, %s', (_what, bad) => {
    const half = Buffer.concat([OPENING, bad, request(authority(URL), 5)]);
    expect(rewrite([half]).equals(half)).toBe(true);
    expect(rewrite(cut(half, [40, 41, 45, 50, 60])).equals(half)).toBe(true);
  });

  it('holds back at most 64 KiB: a larger block passes on unchanged as soon as that is known', () => {
    const rewriter = createAuthorityRewriter();
    rewriter.push(OPENING);
    let held = 0;
    for (let frames = 0; !rewriter.passing; frames++) {
      const type = frames === 0 ? HEADERS : CONTINUATION;
      const piece = frame(type, 0, 1, frames === 0 ? authority(URL) : Buffer.alloc(1000));
      held += piece.length - Buffer.concat(rewriter.push(piece)).length;
      expect(held).toBeLessThanOrEqual(64 * 1024);
    }
    expect(held).toBe(0);
    const large = createAuthorityRewriter();
    large.push(OPENING);
    const header = frame(HEADERS, END_HEADERS, 1, Buffer.alloc(64 * 1024 + 1)).subarray(0, 9);
    expect(Buffer.concat(large.push(header))).toEqual(header);
    expect(large.passing).toBe(true);
  });

  it('gives what it held back when the input ends in the middle', () => {
    const half = Buffer.concat([OPENING, request(Buffer.concat([PSEUDO, authority(URL)]))]);
    const short = half.subarray(0, half.length - 4);
    expect(rewrite([short]).equals(short)).toBe(true);
  });

  it('says nothing and breaks nothing on arbitrary octets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat()), (bytes, places) => {
        const block = request(Buffer.from(bytes));
        const half = Buffer.concat([OPENING, block, Buffer.from(bytes)]);
        expect(rewrite(cut(half, places)).length).toBe(half.length);
      }),
    );
  });
});
