/** What packs a bundle for support. A bundle of its own, which no daemon loads. */
export { packMembers } from '@wins/support-bundle';
