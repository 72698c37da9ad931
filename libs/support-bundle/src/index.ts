/**
 * An archive for those who help: members that are made on their own, cleaned of secrets, and packed.
 *
 * It owns: the bounds of a member and what becomes of one that fails, the removal of known secrets, and the archive. It does not own: what
 * the members are, and who may read the archive.
 *
 * @example
 * const clean = cleanerOf(['a-token']);
 * const made = await makeMember({ name: 'log.txt', maxBytes: 1024, make: readLog }, clean);
 * const archive = await packMembers('bundle', [made]);
 * @module
 */
export { addressWithoutSecrets, cleanerOf } from './cleaner.js';
export { logTail } from './log-tail.js';
export { makeMember, type MadeMember, type SupportMember } from './make-member.js';
export { packMembers, type PackedFile } from './pack-members.js';
