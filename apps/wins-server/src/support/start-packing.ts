/** Packs a bundle for support; no daemon loads it. */
export { packMembers } from '../features/support-bundle/pack-members.js';
