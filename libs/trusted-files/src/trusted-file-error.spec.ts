import { fileSystemError, TrustedFileError } from './index.js';

it('says what was tried, on what, where, and what was found', () => {
  const details = { at: '/a', rule: 'A7 symbolic link' } as const;
  const error = new TrustedFileError('notTrusted', 'read', '/a/b', 'it is a link', details);
  expect(error.message).toBe('cannot read "/a/b" because of "/a": it is a link');
});

it('quotes a path that would forge a line or steer a terminal', () => {
  const error = new TrustedFileError('notFound', 'read', '/a\n\u202e\u2028', 'none');
  expect(error.message).toBe('cannot read "/a\\n\\u202e\\u2028": none');
});

it('translates errors of the file system, and leaves all others as they are', () => {
  const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', errno: -28 });
  expect(fileSystemError(full, 'write', '/a')).toMatchObject({
    code: 'noSpace',
    message: 'cannot write "/a": the disk is full',
    cause: full,
  });
  const foreign = Object.assign(new Error('no'), { code: 'pathNotAllowed' });
  expect(fileSystemError(foreign, 'write', '/a')).toBe(foreign);
  const own = new TrustedFileError('changed', 'read', '/a', 'it changed');
  expect(fileSystemError(own, 'write', '/b')).toBe(own);
});
