/** One leading slash or backslash, not two: `//server` and `\\?\` name another machine or a device. */
const WITHOUT_DRIVE = /^[\\/](?![\\/])/;

/**
 * On Windows, puts a path such as `/etc` on the system drive (default `%SystemDrive%`, else `C:`). Rancher uses one path for
 * Linux and Windows nodes, but Windows would look for it on the current drive. Other paths stay as they are.
 */
export function onSystemDrive(
  file: string,
  platform: NodeJS.Platform = process.platform,
  systemDrive: string = process.env['SystemDrive'] ?? '',
): string {
  if (platform !== 'win32' || !WITHOUT_DRIVE.test(file)) return file;
  return `${/^[a-z]:$/i.test(systemDrive) ? systemDrive : 'C:'}${file}`;
}
