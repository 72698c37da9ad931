import { jobObjectProcessHost } from './job-object-process-host.js';

it('says at once that Windows is needed when it is called elsewhere', () => {
  expect(() => jobObjectProcessHost()).toThrow('cannot call Windows');
});
