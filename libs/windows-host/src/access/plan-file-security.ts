import type { ProcessAccount } from './process-account.js';

const READ = 4;
const WRITE = 2;
const EXECUTE = 1;

/**
 * The security descriptor for permission bits of POSIX. SYSTEM and administrators may do everything, as root may elsewhere, and an
 * account without their rights as well with what is its own. The last three bits are for everyone. Those of the group grant nothing:
 * the group of a service is SYSTEM. Nothing is taken over from the folder above, and what is made in a folder does not get the bits for
 * everyone. Pure.
 */
export function planFileSecurity(
  mode: number,
  { user, isPrivileged }: ProcessAccount,
  isFolder: boolean,
): string {
  const inherited = isFolder ? 'OICI' : '';
  const full = (sid: string): string => `(A;${inherited};FA;;;${sid})`;
  const everyone = [
    (mode & READ) === 0 ? '' : 'FR',
    // Whoever may change what is in a folder may remove it, which DC is.
    (mode & WRITE) === 0 ? '' : `FW${isFolder ? 'DC' : ''}`,
    (mode & EXECUTE) === 0 ? '' : 'FX',
  ].join('');
  const owner = isPrivileged ? 'O:BA' : '';
  const own = isPrivileged ? '' : full(user);
  const others = everyone === '' ? '' : `(A;;${everyone};;;WD)`;
  return `${owner}D:P${full('SY')}${full('BA')}${own}${others}`;
}
