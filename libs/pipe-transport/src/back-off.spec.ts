import { backOffMs } from './back-off.js';

describe('backOffMs', () => {
  test('doubles its ceiling from 20 ms to 1 s and stays there', () => {
    const ceilings = [0, 1, 2, 3, 4, 5, 6, 7, 2000].map((attempt) => backOffMs(attempt, 1));
    expect(ceilings).toEqual([20, 40, 80, 160, 320, 640, 1000, 1000, 1000]);
  });

  test('spreads evenly below the ceiling', () => {
    expect([0, 0.25, 0.5].map((random) => backOffMs(10, random))).toEqual([0, 250, 500]);
  });
});
