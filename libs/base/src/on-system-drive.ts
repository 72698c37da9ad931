/** One slash of either kind, and no second one: `//server` and `\\?\` name another machine or a device. */
const WITHOUT_DRIVE = /^[\\/](?![\\/])/;

/**
 * The path that programs of Windows mean by one that begins with one slash: Rancher has one setting for the nodes of Linux and of
 * Windows. It lies on the system drive; Windows itself would take the drive of the current folder. Other paths stay as they are, as
 * do those of other systems.
 *
 * @param systemDrive Default: `%SystemDrive%`, else `C:`.
 */
export function onSystemDrive(
  file: string,
  platform: NodeJS.Platform = process.platform,
  systemDrive: string = process.env['SystemDrive'] ?? '',
): string {
  if (platform !== 'win32' || !WITHOUT_DRIVE.test(file)) return file;
  return `${/^[a-z]:$/i.test(systemDrive) ? systemDrive : 'C:'}${file}`;
}
