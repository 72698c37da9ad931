import type { ClientIdentity } from '@wins/base';
import { Shares } from '../../kernel/admission/shares.js';
import { beginDialOf } from './begin-dial.js';

const clientNamed = (key: string) =>
  ({ key, description: {}, isAdministrator: key === 'root' }) as ClientIdentity;
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function started() {
  const row = { what: 'dials', total: 5, reserve: 1, floor: 1, atLimit: 'waits' } as const;
  const dials = new Shares(row);
  const began: string[] = [];
  const givenUp: string[] = [];
  const done = new Map<string, () => void>();
  const dial = (client: string, name: string): (() => void) =>
    beginDialOf(dials, clientNamed(client), (over) => {
      began.push(name);
      done.set(name, over);
      return () => void givenUp.push(name);
    });
  return { dials, began, givenUp, dial, end: (name: string) => done.get(name)?.() };
}

describe('the dials of all tunnels', () => {
  it('leave room for other clients beside a flooding one, and a reserve for administrators', async () => {
    const { began, dial } = started();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) dial('a', name);
    await turns();
    expect(began).toEqual(['a1', 'a2']);
    for (const name of ['b1', 'b2', 'b3']) dial('b', name);
    dial('root', 'r1');
    await turns();
    expect(began).toEqual(['a1', 'a2', 'b1', 'b2', 'r1']);
  });

  it('begin one after the other as others end, client by client in turn', async () => {
    const { began, dial, end } = started();
    for (const name of ['a1', 'a2', 'a3', 'a4']) dial('a', name);
    for (const name of ['b1', 'b2', 'b3']) dial('b', name);
    await turns();
    for (const name of ['a1', 'b1', 'a2']) {
      end(name);
      await turns();
    }
    expect(began).toEqual(['a1', 'a2', 'b1', 'b2', 'a3', 'b3', 'a4']);
  });

  it('hold nothing of what was taken back: while it waited, as it began, or under way', async () => {
    const { dials, began, givenUp, dial } = started();
    const [under, asItBegins] = [dial('a', 'a1'), dial('a', 'a2')];
    asItBegins();
    await turns();
    const waits = [dial('a', 'a3'), dial('a', 'a4')].at(-1);
    waits?.();
    await turns();
    expect([began, givenUp]).toEqual([['a1', 'a2', 'a3'], ['a2']]);
    under();
    under();
    await turns();
    expect([began, givenUp, dials.held]).toEqual([['a1', 'a2', 'a3'], ['a2', 'a1'], 1]);
  });
});
