import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { MESSAGE, TunnelFrames } from './tunnel-frames.js';
import type { Passing, Sender } from './tunnel-relay.js';

type Kind = keyof typeof MESSAGE;

/** Drops the first message of each kind in `kinds`, and sends the second twice. */
export class Loss {
  readonly #seen = new Map<string, number>();
  readonly #kinds: readonly `${Sender} ${Kind}`[];

  constructor(kinds: readonly `${Sender} ${Kind}`[]) {
    this.#kinds = kinds;
  }

  times(kind: `${Sender} ${Kind}`): number {
    return this.#seen.get(kind) ?? 0;
  }

  readonly passing: Passing = (from) => {
    const frames = new TunnelFrames();
    return (chunk) =>
      frames.add(chunk).flatMap(({ bytes, type }) => {
        const kind = this.#kinds.find((each) => each === `${from} ${nameOf(type)}`);
        if (kind === undefined) return [bytes];
        const times = this.times(kind) + 1;
        this.#seen.set(kind, times);
        return times === 1 ? [] : times === 2 ? [bytes, bytes] : [bytes];
      });
  };
}

function nameOf(type: number): string {
  return Object.entries(MESSAGE).find(([, number]) => number === type)?.[0] ?? '';
}

export async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

export async function say(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}
