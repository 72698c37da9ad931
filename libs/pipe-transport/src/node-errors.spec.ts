import { pipeErrorFrom } from './node-errors.js';
import { PipeError } from './pipe-error.js';

const path = { name: 'x', address: '/run/wins/x', kind: 'unix-socket' } as const;

describe('pipeErrorFrom', () => {
  test.each([
    ['ENOENT', 'notFound'],
    ['ENOTDIR', 'notFound'],
    ['ECONNREFUSED', 'notFound'],
    ['EACCES', 'accessDenied'],
    ['EPERM', 'accessDenied'],
    ['EROFS', 'accessDenied'],
    ['EAGAIN', 'busy'],
    ['EBUSY', 'busy'],
    ['EADDRINUSE', 'inUse'],
    ['EEXIST', 'inUse'],
    ['ETIMEDOUT', 'timeout'],
    ['EPIPE', 'closed'],
    ['ECONNRESET', 'closed'],
    ['ERR_STREAM_DESTROYED', 'closed'],
    ['ENAMETOOLONG', 'invalidName'],
    ['EMFILE', 'unknown'],
    ['ENOSPC', 'unknown'],
    ['EIO', 'unknown'],
    ['constructor', 'unknown'],
  ])('translates %s to %s and keeps it as the cause', (nodeCode, code) => {
    const cause = Object.assign(new Error('platform'), { code: nodeCode });
    expect(pipeErrorFrom(cause, 'use', path)).toMatchObject({
      name: 'PipeError',
      code,
      cause,
      pipe: 'x',
      address: '/run/wins/x',
    });
  });

  test('says what was tried, on what, what was found and what to do', () => {
    const cause = Object.assign(new Error('platform'), { code: 'ENOENT' });
    expect(pipeErrorFrom(cause, 'connect to', path).message).toBe(
      'cannot connect to pipe "x" (/run/wins/x): there is no such file; check that the daemon is running and the name is right',
    );
  });

  test('repeats what it does not know', () => {
    expect(pipeErrorFrom(new Error('odd'), 'use', path).message).toContain('odd');
    expect(pipeErrorFrom(undefined, 'use', path).code).toBe('unknown');
  });

  test('leaves its own errors as they are', () => {
    const own = new PipeError('busy', 'no slot');
    expect(pipeErrorFrom(own, 'use', path)).toBe(own);
  });
});
