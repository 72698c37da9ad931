import { FakeClock } from '@wins/base/testing';
import { AgentError } from '../agent-error.js';
import type { Secret, SecretStore } from '../ports.js';
import { KnownSecret } from './known-secret.js';

const never = new AbortController().signal;
const secret = (version: number, value = 'a', uid = 'u'): Secret => ({
  uid,
  resourceVersion: String(version),
  data: { value: Buffer.from(value) },
  object: {},
});
const changes = { value: Buffer.from('b') };

/** An API server whose answers the test gives, or withholds. */
class Asked implements Pick<SecretStore, 'read' | 'write'> {
  answer: (answer: Secret | undefined) => void = () => undefined;
  refuse: (error: Error) => void = () => undefined;
  isAborted = false;

  read({ signal }: { readonly signal: AbortSignal }): Promise<Secret | undefined> {
    return new Promise((resolve, reject) => {
      this.answer = resolve;
      this.refuse = reject;
      signal.addEventListener('abort', () => {
        this.isAborted = true;
        reject(new AgentError('closed', 'it was aborted'));
      });
    });
  }

  write(
    _secret: Secret,
    _changes: object,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<Secret> {
    return this.read({ signal }) as Promise<Secret>;
  }
}

describe('the known Secret', () => {
  let clock: FakeClock;
  let asked: Asked;
  let known: KnownSecret;
  beforeEach(() => {
    clock = new FakeClock();
    asked = new Asked();
    known = new KnownSecret(asked as unknown as SecretStore, clock);
    known.tell(secret(5));
  });
  const writing = () => known.write(secret(5), changes, { signal: never });

  it('is written when the watch shows the change, although no answer comes', async () => {
    const written = writing();
    known.tell(secret(6, 'b'));
    await clock.waiting();
    expect(clock.waits).toEqual([1000]);
    clock.advance(1000);
    expect((await written).resourceVersion).toBe('6');
    expect([asked.isAborted, known.current?.resourceVersion]).toEqual([true, '6']);
  });

  it('is written when the answer comes, without a wait', async () => {
    const written = writing();
    known.tell(secret(6, 'b'));
    asked.answer(secret(6, 'b'));
    // The report of the watch came first, so that it is the one that counts.
    expect(await written).toBe(known.current);
    expect(clock.waits).toEqual([]);
  });

  it.each<[string, Secret | undefined]>([
    ['another newer version', secret(6, 'c')],
    ['no Secret', undefined],
    ['another Secret', secret(2, 'b', 'other')],
  ])('is not written when the watch shows %s', async (_what, told) => {
    const written = writing();
    known.tell(told);
    await clock.waiting();
    clock.advance(1000);
    await expect(written).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is not decided by an older version, which only lags behind', async () => {
    const written = writing();
    known.tell(secret(4, 'b'));
    expect([known.isDoubted, clock.waits]).toEqual([true, []]);
    asked.answer(secret(6, 'b'));
    expect((await written).resourceVersion).toBe('6');
  });

  it('is the one of a restored cluster, although its version is older', async () => {
    const reading = known.read({ signal: never });
    asked.answer(secret(3, 'restored'));
    await reading;
    expect(known.current?.resourceVersion).toBe('3');
  });

  it('is asked for once when the watch shows an older version, and the answer decides', async () => {
    known.tell(secret(3, 'restored'));
    expect([known.isDoubted, known.current?.resourceVersion]).toEqual([true, '5']);
    const reading = known.read({ signal: never });
    asked.answer(secret(3, 'restored'));
    await reading;
    expect([known.isDoubted, known.current?.resourceVersion]).toEqual([false, '3']);
  });

  it('stays the newer one that the watch showed while an older answer was on its way', async () => {
    const reading = known.read({ signal: never });
    known.tell(secret(7));
    asked.answer(secret(6));
    await reading;
    expect(known.current?.resourceVersion).toBe('7');
  });

  it.each<[string, Secret | undefined, Secret | undefined]>([
    ['deletion', undefined, secret(6, 'b')],
    ['creation', secret(7), undefined],
    ['other Secret', secret(7, 'b', 'other'), secret(6)],
  ])(
    'stays as the watch shows its %s, until another answer decides',
    async (_what, told, answer) => {
      const reading = known.read({ signal: never });
      known.tell(told);
      asked.answer(answer);
      await reading;
      expect([known.current, known.isDoubted]).toEqual([told ?? null, true]);
      const again = known.read({ signal: never });
      asked.answer(told);
      await again;
      expect([known.current, known.isDoubted]).toEqual([told ?? null, false]);
    },
  );

  it('is read when the watch shows a version, although no answer comes', async () => {
    const reading = known.read({ signal: never });
    known.tell(secret(6));
    await clock.waiting();
    clock.advance(1000);
    expect((await reading)?.resourceVersion).toBe('6');
  });

  it('fails as the request fails, when the watch shows nothing', async () => {
    const written = writing();
    asked.refuse(new AgentError('unreachable', 'no answer'));
    await expect(written).rejects.toMatchObject({ code: 'unreachable' });
  });
});
