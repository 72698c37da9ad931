export { windowsFileTrust } from '@wins/windows-host';
