import {
  FLAG,
  FRAME,
  frame,
  FrameClient,
  grpcMessage,
  PREFACE,
} from '@wins/http2-connection/testing';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { startProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { peakBytes, residentBytes } from '../testing/process-memory.js';
import { Workspace, WINS } from '../testing/workspace.js';

const MEGABYTE = 1024 * 1024;
/** Maximum memory growth in bytes: more than the daemon's limits allow, and far less than each attack once took. */
const BOUND = 128 * MEGABYTE;

const START = '/wins.ProcessService/Start';
const KEEP_ALIVE = '/wins.ProcessService/KeepAlive';
/** The first frame of the Go client. */
const ONE_SETTING = frame(FRAME.settings, 0, 0, Buffer.from('000300000064', 'hex'));

describe('an attacker who speaks HTTP/2 at the pipe', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  let address: string;
  let client: WinsClient;
  let idleBytes: number;

  beforeAll(async () => {
    // A small young generation causes frequent garbage collections, which once made Node's HTTP/2 implementation abort the process.
    const args = ['--max-semi-space-size=1', WINS, 'srv', 'app', 'run', '--config'];
    const config = workspace.config([]);
    daemon = Daemon.of(startProgram(process.execPath, [...args, config], workspace.environment));
    address = String((await daemon.logged(({ msg }) => msg === 'ready'))['address']);
    client = createWinsClient({ address });
    for (let call = 0; call < 100; call += 1) await client.info();
    idleBytes = residentBytes(daemon.child.pid);
  });
  afterAll(async () => {
    await client.close();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const gone = (socket: Socket): Promise<void> =>
    new Promise((resolve) => {
      if (socket.closed) resolve();
      else socket.once('close', () => resolve());
    });
  function open(): Socket {
    const socket = connect(address);
    return socket.on('error', () => undefined).resume();
  }
  async function attacker(): Promise<FrameClient> {
    const attacking = await FrameClient.connect(address);
    await attacking.greet();
    return attacking;
  }
  async function growth(attack: () => Promise<unknown>): Promise<number> {
    const before = residentBytes(daemon.child.pid);
    await attack();
    return peakBytes(daemon.child.pid) - before;
  }

  async function play(writes: readonly Buffer[]): Promise<void> {
    let left = 150;
    const player = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const socket = open();
        for (const octets of [PREFACE, ...writes]) {
          socket.write(octets);
          await new Promise((resolve) => setImmediate(resolve));
        }
        for (let round = 0; round < 5; round += 1) await client.info();
        socket.destroy();
        await gone(socket);
      }
    };
    await Promise.all(Array.from({ length: 6 }, player));
  }

  it('cannot abort the process with frames that are ignored, among headers on a half-closed stream (A43)', async () => {
    using sample = await attacker();
    const { endHeaders, endStream } = FLAG;
    const forbidden = sample.block(KEEP_ALIVE, [['connection', 'close']]);
    const call = sample.block(KEEP_ALIVE);
    const writes = [
      [ONE_SETTING],
      [frame(FRAME.headers, endHeaders, 7, call), frame(0x77, 0, 9, Buffer.alloc(3))],
      [
        frame(FRAME.headers, endHeaders, 13, forbidden),
        frame(FRAME.priority, 0, 15, Buffer.alloc(5)),
      ],
      [frame(FRAME.headers, endHeaders | endStream, 17, call), frame(0x99, 0, 17, Buffer.alloc(9))],
      [
        frame(FRAME.priority, 0, 19, Buffer.alloc(5)),
        frame(FRAME.headers, endHeaders | endStream, 17, call),
      ],
    ];
    await play(writes.map((frames) => Buffer.concat(frames)));
    expect((await client.info()).version).toMatch(/^v/);
    expect(daemon.child.exitCode).toBeNull();
  });

  async function sendUnfinished(): Promise<void> {
    const message = grpcMessage(Buffer.alloc(MEGABYTE)).subarray(0, -1);
    const attackers = await Promise.all(Array.from({ length: 8 }, attacker));
    await Promise.all(
      attackers.map(async (attacking) => {
        for (let id = 1; id < 512 && attacking.socket.writable; id += 2) {
          attacking.headers(id, FLAG.endHeaders, attacking.block(START));
          for (let at = 0; at < message.length; at += 16_384) {
            attacking.send(FRAME.data, 0, id, message.subarray(at, at + 16_384));
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect(await attacking.goaway()).toBe('tooMuchUnfinished');
        attacking[Symbol.dispose]();
      }),
    );
  }

  describe('who leaves requests unfinished', () => {
    let grown: number;
    beforeAll(async () => {
      grown = await growth(sendUnfinished);
    });

    it('cannot fill the memory with requests that lack their last byte, and learns why it is disconnected (A45)', async () => {
      expect(grown).toBeLessThan(BOUND);
      expect((await client.info()).version).toMatch(/^v/);
    });

    it('does not keep the memory that it used: an idle daemon is as small as before (A45)', async () => {
      const isBack = (): boolean => residentBytes(daemon.child.pid) - idleBytes < 20 * MEGABYTE;
      while (!isBack()) await new Promise((resolve) => setTimeout(resolve, 50));
      expect((await client.info()).version).toMatch(/^v/);
    });
  });

  it('cannot make the daemon decompress anything (A53)', async () => {
    const bomb = gzipSync(Buffer.alloc(MEGABYTE));
    const head = Buffer.of(1, 0, 0, 0, 0);
    head.writeUInt32BE(bomb.length, 1);
    const message = Buffer.concat([head, bomb]);
    const grown = await growth(async () => {
      const attackers = await Promise.all(Array.from({ length: 24 }, attacker));
      await Promise.all(
        attackers.map(async (attacking) => {
          for (let id = 1; id < 100; id += 2) {
            const block = attacking.block(START, [['grpc-encoding', 'gzip']]);
            attacking.headers(id, FLAG.endHeaders, block);
            attacking.send(FRAME.data, FLAG.endStream, id, message);
          }
          const answer = await attacking.received(({ type }) => type === FRAME.headers);
          expect(attacking.decode(answer)).toMatchObject({ 'grpc-status': '12' });
          await attacking.ping('all done');
          attacking[Symbol.dispose]();
        }),
      );
    });
    expect(grown).toBeLessThan(BOUND);
  });

  it('cannot keep others from being served by headers that take long to decode (A57)', async () => {
    // The Huffman code of `aaaaaaaa` takes five octets; the name has 12,800 letters.
    const name = Buffer.concat(
      Array.from({ length: 1600 }, () => Buffer.from('18c6318c63', 'hex')),
    );
    const literal = Buffer.concat([Buffer.from('00ffc13d', 'hex'), name, Buffer.of(0)]);
    const flood = Buffer.concat([PREFACE, ONE_SETTING]);
    const calls = Array.from({ length: 50 }, (_, index) =>
      frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1 + 2 * index, literal),
    );
    const octets = Buffer.concat([flood, ...calls]);
    let served = false;
    const flooding = Array.from({ length: 50 }, async () => {
      while (!served) {
        const socket = open();
        for (const part of [octets, octets.subarray(flood.length)]) {
          await new Promise((resolve) => socket.write(part, resolve));
        }
        socket.destroy();
        await gone(socket);
      }
    });
    for (let count = 0; count < 20; count += 1) await client.info();
    served = true;
    await Promise.all(flooding);
    // The daemon also disconnects a client that keeps sending such headers, and tells it why.
    using attacking = await attacker();
    for (let id = 1; id < 400 && attacking.socket.writable; id += 2) {
      attacking.send(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, literal);
    }
    expect(await attacking.goaway()).toBe('tooManyHeaderOctets');
  });
});
