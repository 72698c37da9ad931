// Shared code of the attack programs. Each is run as `node PROGRAM ADDRESS PORT FILE` (the pipe, a listed port and a listed program),
// prints "attacking" once the attack is in progress, and continues until it is killed. Connections that the daemon closes are reopened.
import { frame, FRAME, FrameClient } from '@wins/http2-connection/testing';
import { connect } from 'node:net';

export const [address, port, file] = process.argv.slice(2);
export const MEBIBYTE = 1024 * 1024;
/** One setting, as the Go client sends it first. */
export const ONE_SETTING = frame(FRAME.settings, 0, 0, Buffer.from('000300000064', 'hex'));

export const method = (service, name) => `/wins.${service}/${name}`;
export const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

export function open() {
  return connect(address)
    .on('error', () => undefined)
    .resume();
}

export function gone(socket) {
  return new Promise((resolve) => {
    if (socket.closed) resolve(undefined);
    else socket.once('close', resolve);
  });
}

/** Resolves once the written data has left this process, or the connection is closed. */
export function written(socket, octets) {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('close', done);
      resolve(undefined);
    };
    socket.once('close', done);
    socket.write(octets, done);
  });
}

/** Reports that the attack is in progress, at the first call. */
export function attacking() {
  if (!said) process.stdout.write('attacking\n');
  said = true;
}
let said = false;

/** Repeats an attack on this number of concurrent connections; each closed connection is replaced. */
export function forever(connections, attack) {
  for (let index = 0; index < connections; index += 1) void again(attack);
}

async function again(attack) {
  for (;;) {
    let client;
    try {
      client = await FrameClient.connect(address);
      await client.greet();
      await attack(client);
    } catch {
      // The daemon has closed the connection, as expected.
    }
    client?.[Symbol.dispose]();
    await nextTurn();
  }
}

/** A message with a list of texts in one field. */
export function texts(number, list) {
  return Buffer.concat(list.map((text) => field(number, Buffer.from(text))));
}

/** A length-delimited field of a message. */
export function field(number, octets) {
  const head = [(number << 3) | 2];
  let rest = octets.length;
  for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...head, rest]), octets]);
}
