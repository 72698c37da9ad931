/** One leading slash of either kind, but not two: `//server` and `\\?\` name another machine or a device. */
const WITHOUT_DRIVE = /^[\\/](?![\\/])/;

/**
 * Puts a path that begins with one slash on the system drive, by default `%SystemDrive%`, else `C:`: Rancher has one
 * setting for Linux and Windows nodes, and Windows itself would use the drive of the current folder. Other paths, and
 * paths on other systems, stay as they are.
 */
export function onSystemDrive(
  file: string,
  platform: NodeJS.Platform = process.platform,
  systemDrive: string = process.env['SystemDrive'] ?? '',
): string {
  if (platform !== 'win32' || !WITHOUT_DRIVE.test(file)) return file;
  return `${/^[a-z]:$/i.test(systemDrive) ? systemDrive : 'C:'}${file}`;
}
