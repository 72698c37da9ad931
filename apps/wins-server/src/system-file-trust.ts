import { posixFileTrust, type FileTrust } from '@wins/trusted-files';

/** Judges files and folders as this system does. The part for Windows is loaded there only. */
export async function systemFileTrust(): Promise<FileTrust> {
  if (process.platform !== 'win32') return posixFileTrust();
  return (await import('./windows-file-trust.js')).windowsFileTrust();
}
