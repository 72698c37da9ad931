/**
 * An archive for those who help: members that are made on their own, cleaned of secrets, packed and written privately.
 *
 * It owns: the bounds of a member and what becomes of one that fails, the removal of known secrets, the archive, and who may read it. It does
 * not own: what the members are.
 *
 * @example
 * const clean = cleanerOf(['a-token']);
 * const made = await makeMember({ name: 'log.txt', maxBytes: 1024, make: readLog }, clean);
 * await writePrivateFile('bundle.tar.gz', await packMembers('bundle', [made]), posixFileTrust);
 * @module
 */
export { addressWithoutSecrets, cleanerOf } from './cleaner.js';
export { logTail } from './log-tail.js';
export { makeMember, type MadeMember, type SupportMember } from './make-member.js';
export { packMembers, type PackedFile } from './pack-members.js';
export { writePrivateFile } from './private-file.js';
