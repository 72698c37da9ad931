export { ensurePrivateFolder } from '@wins/windows-host';
