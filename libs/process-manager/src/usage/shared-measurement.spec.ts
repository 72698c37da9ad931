import { SharedMeasurement } from './shared-measurement.js';

describe('a measurement for all who ask', () => {
  it('is taken once a second at most, however many ask', async () => {
    let now = 5000;
    let count = 0;
    const shared = new SharedMeasurement(
      () => {
        count += 1;
        return Promise.resolve([]);
      },
      () => now,
    );
    const taken = await Promise.all(Array.from({ length: 100 }, () => shared.take()));
    expect(count).toBe(1);
    expect(new Set(taken.map(({ takenAtMs }) => takenAtMs))).toEqual(new Set([5000]));
    now = 5999;
    expect((await shared.take()).takenAtMs).toBe(5000);
    now = 6000;
    expect((await shared.take()).takenAtMs).toBe(6000);
    expect(count).toBe(2);
  });

  it('that takes longer than a second is waited for, and no second one is begun', async () => {
    let now = 0;
    let count = 0;
    let finish: () => void = () => undefined;
    const shared = new SharedMeasurement(
      () => {
        count += 1;
        return new Promise((resolve) => (finish = () => resolve([])));
      },
      () => now,
    );
    const first = shared.take();
    now = 9000;
    const second = shared.take();
    finish();
    expect(await second).toBe(await first);
    expect(count).toBe(1);
  });

  it('takes no more than a tenth of the time, however long it takes', async () => {
    let now = 0;
    const shared = new SharedMeasurement(
      () => {
        now += 300;
        return Promise.resolve([]);
      },
      () => now,
    );
    await shared.take();
    now = 2999;
    expect((await shared.take()).takenAtMs).toBe(0);
    now = 3000;
    expect((await shared.take()).takenAtMs).toBe(3000);
  });

  it('that failed is tried again a second later', async () => {
    let now = 0;
    let fails = true;
    const shared = new SharedMeasurement(
      () => (fails ? Promise.reject(new Error('no')) : Promise.resolve([])),
      () => now,
    );
    await expect(shared.take()).rejects.toThrow('no');
    fails = false;
    now = 1000;
    await expect(shared.take()).resolves.toEqual({ takenAtMs: 1000, runs: [] });
  });
});
