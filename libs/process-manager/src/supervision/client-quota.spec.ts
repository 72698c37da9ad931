import { ClientQuota } from './client-quota.js';

it('counts by client, and gives a place back once', () => {
  const quota = new ClientQuota(2);
  const giveBack = quota.take('a');
  quota.take('a');
  expect(() => quota.take('a')).toThrow('wanted fewer than 2');
  quota.take('b');
  giveBack();
  giveBack();
  quota.take('a');
  expect(() => quota.take('a')).toThrow('wanted fewer than 2');
});
