// Shared code of the attack programs: `node PROGRAM ADDRESS PORT FILE` (the pipe, a listed port and a listed program). Each prints "attacking" once
// the attack is in progress, reopens connections that the daemon closes, and continues until it is killed.
import { frame, FRAME, FrameClient } from '@wins/http2-connection/testing';
import { connect } from 'node:net';

export const [address, port, file] = process.argv.slice(2);
export const MEBIBYTE = 1024 * 1024;
/** The first frame of the Go client. */
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

/** Resolves once the data has left this process, or the connection has closed. */
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

export function attacking() {
  if (!said) process.stdout.write('attacking\n');
  said = true;
}
let said = false;

/** Runs an attack on several connections at once. When one ends, the attack runs again on a new connection. */
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

export function texts(number, list) {
  return Buffer.concat(list.map((text) => field(number, Buffer.from(text))));
}

export function field(number, octets) {
  const head = [(number << 3) | 2];
  let rest = octets.length;
  for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...head, rest]), octets]);
}
