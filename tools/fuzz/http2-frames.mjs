// Generates an attacker's HTTP/2 input: mostly valid, so that it gets far, and sometimes arbitrary. Steps are frames as JSON, [type, flags, stream,
// payload]. A payload is hexadecimal, a list of header fields, or the number of zeros in a gRPC message.
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

const [DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, , PING, GOAWAY, WINDOW_UPDATE, CONTINUATION] =
  Array.from({ length: 10 }, (_, type) => type);
const END_STREAM = 1;
const END_HEADERS = 4;
const FRAME_OCTETS = 16_384;
/** First byte of a literal header field (RFC 7541, section 6.2): indexed, not indexed, never indexed. */
const FORMS = [0x40, 0, 0x10];
const HUFFMAN_A = '18c6318c63';

/** Generates frames, positions at which to cut their bytes, and a way to end the connection. `paths` are paths of calls. */
export function generateFrames(rng, { paths, bodyOf = () => rng.size() }) {
  const open = [];
  let next = 1;
  // An error ends the connection, so most frames must be valid.
  const anyStream = () =>
    rng.chance(0.95) && open.length > 0 ? rng.pick(open) : rng.pick([0, 1, 2, next, next + 2]);
  const openStream = () => {
    const id = next;
    next += rng.pick([2, 2, 2, 2, 2, 2, 2, 4]) - Number(rng.chance(0.01));
    open.push(id);
    return id;
  };
  const flags = () => rng.choose([5, () => rng.pick([0, 4, 5])], [1, () => rng.below(256)]);
  const call = () => [
    HEADERS,
    END_HEADERS | Number(rng.chance(0.3)),
    openStream(),
    fields(rng, paths),
  ];
  const frames = () =>
    rng.choose(
      [8, () => [call()]],
      [8, () => data(rng.pick([0, 0, 0, END_STREAM]), anyStream(), bodyOf())],
      [2, () => wholeCall(rng, openStream(), paths, bodyOf)],
      [2, () => continued(rng, openStream(), paths)],
      [2, () => [[RST_STREAM, 0, anyStream(), `0000000${rng.below(10)}`]]],
      [2, () => [[HEADERS, END_HEADERS | END_STREAM, anyStream(), [[0, 'x', '0']]]]],
      [1, () => [[SETTINGS, rng.pick([0, 0, 0, 1]), 0, settings(rng)]]],
      [1, () => [[PING, rng.pick([0, 1]), 0, rng.hex(8)]]],
      [2, () => [[WINDOW_UPDATE, 0, anyStream(), windowStep(rng)]]],
      [1, () => [[PRIORITY, 0, anyStream(), rng.hex(5)]]],
      [1, () => [[GOAWAY, 0, 0, rng.hex(rng.chance(0.9) ? 8 + rng.below(9) : 3)]]],
      [1, () => [[rng.below(12), flags(), anyStream(), anyPayload(rng, paths)]]],
      [2, () => [[10 + rng.below(200), rng.below(256), anyStream(), rng.hex(rng.below(20))]]],
    );
  const first = rng.chance(0.95) ? [call()] : [];
  const steps = [...first, ...rng.list(30, frames).flat()];
  return {
    steps,
    greets: rng.chance(0.95),
    reads: rng.chance(0.8),
    leaves: rng.pick(['end', 'destroy']),
    cuts: rng.list(12, () => 1 + rng.below(rng.pick([12, 200, 5000]))),
  };
}

export function octetsOf({ steps, greets }) {
  const greeting = greets ? [PREFACE, frameOf([SETTINGS, 0, 0, ''])] : [];
  return Buffer.concat([...greeting, ...steps.map(frameOf)]);
}

function data(flags, id, body) {
  if (typeof body === 'number') return [[DATA, flags, id, body]];
  const parts = body.match(new RegExp(`.{1,${2 * FRAME_OCTETS}}`, 'g')) ?? [''];
  return parts.map((part, at) => [DATA, at === parts.length - 1 ? flags : 0, id, part]);
}

function wholeCall(rng, id, paths, bodyOf) {
  return [[HEADERS, END_HEADERS, id, fields(rng, paths, true)], ...data(END_STREAM, id, bodyOf())];
}

function continued(rng, id, paths) {
  const block = blockOf(fields(rng, paths)).toString('hex');
  const at = 2 * rng.below(block.length / 2 + 1);
  const more = rng.list(9, () => [CONTINUATION, 0, id, '']);
  return [
    [HEADERS, rng.below(2), id, block.slice(0, at)],
    ...more,
    [CONTINUATION, rng.pick([END_HEADERS, END_HEADERS, 0]), id, block.slice(at)],
  ];
}

function fields(rng, paths, isPlain = false) {
  const form = isPlain ? 0 : rng.pick(FORMS);
  const call = [
    [form, ':method', 'POST'],
    [form, ':scheme', 'http'],
    [form, ':path', rng.pick(paths)],
    [form, 'content-type', 'application/grpc'],
    [form, 'te', 'trailers'],
  ];
  if (isPlain) return call;
  const odd = rng.list(rng.pick([0, 0, 0, 0, 0, 0, 2]), () =>
    rng.choose(
      [2, () => [form, rng.pick(['connection', 'Upper', ':status', '', 'x\ny', 'host']), 'close']],
      [2, () => [form, 'grpc-encoding', rng.pick(['gzip', 'identity', 'deflate'])]],
      [2, () => [form, 'grpc-timeout', rng.pick(['1n', '1m', '0S', '-1S', '99999999H', 'x'])]],
      [1, () => [form, 'x-bin', `\x80\x9b${'\xff'.repeat(rng.below(200))}`]],
      [1, () => [form, 'x'.repeat(rng.size() % 9000), '']],
      [1, () => ['raw', rng.pick(['80', 'be', 'ff', 'ffffffffff7f', '3fe1ff03', '20', '3f'])]],
      [1, () => ['raw', `00ff${'81'.repeat(rng.below(5))}01${HUFFMAN_A.repeat(rng.below(300))}00`]],
      [1, () => ['raw', rng.hex(rng.below(12))]],
    ),
  );
  const all = [...call, ...odd];
  if (rng.chance(0.03)) all.splice(rng.below(all.length), 1);
  if (rng.chance(0.03)) all.push(rng.pick(all));
  return all;
}

function settings(rng) {
  const values = [
    '00000000',
    '00000001',
    '00004000',
    '0000ffff',
    '7fffffff',
    '80000000',
    'ffffffff',
  ];
  const whole = rng.list(4, () => `000${rng.below(8)}${rng.pick(values)}`).join('');
  return rng.chance(0.03) ? `${whole}00` : whole;
}

function windowStep(rng) {
  return rng.chance(0.9)
    ? rng.pick(['00000001', '0000ffff', '80000001'])
    : rng.pick(['00000000', '7fffffff', 'ffffffff', '00']);
}

function anyPayload(rng, paths) {
  return rng.choose(
    [3, () => rng.hex(rng.below(40))],
    [2, () => fields(rng, paths)],
    [2, () => rng.size()],
  );
}

function frameOf([type, flags, stream, payload]) {
  const octets = payloadOf(payload);
  const head = Buffer.alloc(9);
  head.writeUIntBE(octets.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, octets]);
}

function payloadOf(payload) {
  if (typeof payload === 'string') return Buffer.from(payload, 'hex');
  if (Array.isArray(payload)) return blockOf(payload);
  const message = Buffer.alloc(5 + payload);
  message.writeUInt32BE(payload, 1);
  return message;
}

function blockOf(all) {
  return Buffer.concat(
    all.map(([form, name, value]) =>
      form === 'raw'
        ? Buffer.from(name, 'hex')
        : Buffer.concat([Buffer.of(form), textOf(name), textOf(value)]),
    ),
  );
}

function textOf(text) {
  const octets = Buffer.from(text, 'latin1');
  const length = [];
  if (octets.length < 127) length.push(octets.length);
  else {
    length.push(127);
    let rest = octets.length - 127;
    for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), octets]);
}
