// What the hostile programs share. Each is run as `node PROGRAM ADDRESS PORT FILE` (the pipe, a port and a program that are listed),
// prints "attacking" once it does, and goes on until it is killed. The connections that the daemon ends are made again.
import { frame, FRAME, FrameClient } from '@wins/http2-connection/testing';
import { connect } from 'node:net';

export const [address, port, file] = process.argv.slice(2);
export const MEBIBYTE = 1024 * 1024;
/** One setting, by which the client of the original begins. */
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

/** Resolves once what is written has left this process, or the connection is gone. */
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

/** Says that the attack is under way, the first time. */
export function attacking() {
  if (!said) process.stdout.write('attacking\n');
  said = true;
}
let said = false;

/** Plays an attack on so many connections at a time, over and over; whatever ends one begins the next. */
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
      // It was ended, which is what it had to be.
    }
    client?.[Symbol.dispose]();
    await nextTurn();
  }
}

/** A message of gRPC that is a list of texts in one field. */
export function texts(number, list) {
  return Buffer.concat(list.map((text) => field(number, Buffer.from(text))));
}

/** A field of a message that is octets, or a message. */
export function field(number, octets) {
  const head = [(number << 3) | 2];
  let rest = octets.length;
  for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...head, rest]), octets]);
}
