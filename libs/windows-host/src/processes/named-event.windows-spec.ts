import { parseSecurityDescriptor } from '@wins/base';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventAccess, listenToEvent, signalEvent, type EventListener } from './named-event.js';

const ADMINISTRATORS = 'D:P(A;;GA;;;BA)(A;;GA;;;SY)';

describe('an event with a name', () => {
  // Waiting for an event does not keep the process alive.
  let alive: NodeJS.Timeout;
  before(() => {
    alive = setInterval(() => undefined, 1000);
  });
  after(() => clearInterval(alive));
  const listeners: EventListener[] = [];
  afterEach(async () => {
    for (const listener of listeners.splice(0)) await listener.close();
  });
  const name = `Global\\wins-${randomUUID()}`;
  function listen(
    signalled: () => Promise<void>,
    failed: (error: unknown) => void = (error) => assert.fail(String(error)),
  ) {
    const listener = listenToEvent({ name, sddl: ADMINISTRATORS, signalled, failed });
    listeners.push(listener);
    return listener;
  }
  const noLonger = (): Promise<void> => Promise.resolve();

  it('calls for each signal, one call at a time', async () => {
    let calls = 0;
    let underWay = 0;
    let told: () => void = () => undefined;
    listen(async () => {
      calls += 1;
      underWay += 1;
      assert.equal(underWay, 1);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      told();
    });
    for (let signal = 1; signal <= 3; signal += 1) {
      const heard = new Promise<void>((resolve) => (told = resolve));
      signalEvent(name);
      await heard;
      assert.equal(calls, signal);
    }
  });

  it('goes on after a call that failed', async () => {
    const failures: unknown[] = [];
    let told: () => void = () => undefined;
    const failure = new Error('the disk is full');
    listen(
      () => Promise.reject(failure),
      (error) => {
        failures.push(error);
        told();
      },
    );
    for (let signal = 1; signal <= 2; signal += 1) {
      const heard = new Promise<void>((resolve) => (told = resolve));
      signalEvent(name);
      await heard;
    }
    assert.deepEqual(failures, [failure, failure]);
  });

  it('that can be listened to no more says why, and closes', async () => {
    const failure = new Error('no promise was made');
    const found = new Promise((resolve) => {
      listen(() => {
        throw failure;
      }, resolve);
    });
    signalEvent(name);
    assert.equal(await found, failure);
    await listeners.at(-1)?.close();
    assert.throws(() => signalEvent(name), { code: 'notFound' });
  });

  it('is for those of its access list', () => {
    listen(noLonger);
    const { entries = [] } = parseSecurityDescriptor(eventAccess(name));
    // The notation of the rights differs between systems; the accounts do not.
    assert.deepEqual(entries.map(({ type, sid }) => [type, sid]).sort(), [
      ['A', 'S-1-5-18'],
      ['A', 'S-1-5-32-544'],
    ]);
  });

  it('is not taken over from someone who made it before', async () => {
    const first = listen(noLonger);
    assert.throws(() => listen(noLonger), { code: 'alreadyExists' });
    await first.close();
    await first.close();
    listen(noLonger);
  });

  it('is not there when nobody listens', async () => {
    await listen(noLonger).close();
    assert.throws(() => signalEvent(name), { code: 'notFound' });
  });
});
