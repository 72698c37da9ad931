export { windowsHostSystem } from '@wins/windows-host';
