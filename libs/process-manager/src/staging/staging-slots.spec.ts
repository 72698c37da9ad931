import { StagingSlots } from './staging-slots.js';

describe('StagingSlots', () => {
  it('runs no more at once than it has slots, in order, and survives failures', async () => {
    const slots = new StagingSlots(2);
    const started: number[] = [];
    const finish: ((fail: boolean) => void)[] = [];
    const results = [0, 1, 2, 3].map((index) =>
      slots
        .run(
          'client',
          () =>
            new Promise<number>((resolve, reject) => {
              started.push(index);
              finish.push((fail) => (fail ? reject(new Error('failed')) : resolve(index)));
            }),
        )
        .catch(() => -1),
    );
    expect(started).toEqual([0, 1]);
    finish[1]?.(true);
    await results[1];
    expect(started).toEqual([0, 1, 2]);
    finish[0]?.(false);
    await results[0];
    expect(started).toEqual([0, 1, 2, 3]);
    finish[2]?.(false);
    finish[3]?.(false);
    await expect(Promise.all(results)).resolves.toEqual([0, -1, 2, 3]);
  });

  it('serves those who wait client by client, however much one of them asks', async () => {
    const slots = new StagingSlots(1);
    const served: string[] = [];
    const work = (client: string) =>
      slots.run(client, () => Promise.resolve(void served.push(client)));
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(work));
    expect(served).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  });
});
