/** What packs a bundle for support. A bundle of its own, which no daemon loads. */
export { packMembers } from '../features/support-bundle/pack-members.js';
