// Generates an attacker's input for the tunnel: WebSocket frames with tunnel messages. Each step is [first byte, masked, length, hexadecimal,
// text]; a null length means the true length. The payload is the hexadecimal bytes, then the text. In the text, %PORT is the allowed port.
import { varint } from './protobuf-fields.mjs';

const BINARY = 2;
const FINAL = 0x80;
const [DATA, CONNECT, ERROR, ADD, REMOVE, PAUSE, RESUME, SYNC, HELLO, END] = [
  1, 2, 3, 4, 5, 6, 7, 8, 1001, 1002,
];
const ADDRESSES = [
  'tcp/localhost:%PORT',
  'tcp/127.0.0.1:%PORT',
  'tcp/localhost:22',
  'tcp/[::1]:%PORT',
  'udp/localhost:%PORT',
  'tcp/169.254.169.254:80',
  'tcp/localhost:%PORT0',
  'tcp/localhost:-1',
  'tcp/\u001b[31m:1',
  'tcp/',
  '',
];
const MASK = Buffer.from('a1b2c3d4', 'hex');

/** Generates frames, positions at which to cut them, and a way to end the connection. */
export function generateTunnel(rng) {
  const id = () => rng.pick([1, 1, 2, 3, 4, 0, -1, 2n ** 62n]);
  const message = () => {
    const type = rng.choose(
      [5, () => CONNECT],
      [5, () => DATA],
      [3, () => rng.pick([ERROR, PAUSE, RESUME, END])],
      [2, () => rng.pick([HELLO, SYNC, ADD, REMOVE])],
      [1, () => rng.pick([0, 9, 1000, 1003, 2 ** 31])],
    );
    const head = [rng.below(100), id(), type];
    if (type === DATA || type === CONNECT) head.push(15_000);
    const start = head.map((value) => number(rng, value)).join('');
    if (type === CONNECT) return [start, rng.pick(ADDRESSES)];
    if (type === SYNC) return [start + rng.hex(rng.pick([0, 8, 16, 80, 7])), ''];
    if (type === HELLO) return [start + number(rng, rng.pick([1, 2, 0])), ''];
    if (type === DATA) return [start + '61'.repeat(rng.size()), ''];
    return [start, rng.pick(['EOF', '', 'x'.repeat(rng.below(200)), '\u0000\u001b'])];
  };
  const frame = () => {
    const [hex, text] = rng.chance(0.98) ? message() : [rng.hex(rng.below(30)), ''];
    const first = rng.choose(
      [80, () => FINAL | BINARY],
      [3, () => rng.pick([BINARY, 0, FINAL])],
      [5, () => FINAL | rng.pick([9, 10])],
      [1, () => FINAL | rng.pick([1, 8])],
      [1, () => rng.below(256)],
    );
    const lie = rng.chance(0.005) ? rng.pick([0, 125, 126, 65_536, 2 ** 20 + 1, 2 ** 31]) : null;
    return [first, rng.chance(0.995), lie, hex, text];
  };
  return {
    steps: rng.list(25, frame),
    cuts: rng.list(10, () => 1 + rng.below(rng.pick([8, 100, 5000]))),
    reads: rng.chance(0.9),
    leaves: rng.pick(['end', 'destroy']),
  };
}

function number(rng, value) {
  if (rng.chance(0.002)) return 'ff'.repeat(rng.below(12));
  const signed = BigInt(value);
  const zigzag = signed < 0n ? -signed * 2n - 1n : signed * 2n;
  return varint(zigzag, rng.chance(0.02) ? 3 : 0).toString('hex');
}

export function tunnelOctetsOf({ steps }, port) {
  return Buffer.concat(steps.map((step) => frameOf(step, port)));
}

function frameOf([first, masked, lie, hex, text], port) {
  const words = Buffer.from(text.replace('%PORT', String(port)));
  const body = Buffer.concat([Buffer.from(hex, 'hex'), words]);
  const length = lie ?? body.length;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = (masked ? 0x80 : 0) | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  if (!masked) return Buffer.concat([head, body]);
  return Buffer.concat([head, MASK, body.map((octet, index) => octet ^ MASK[index % 4])]);
}
