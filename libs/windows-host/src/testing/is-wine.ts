import { systemLibrary } from '../win32/calls/system-library.js';

/** Whether Wine runs this program; specs skip what Wine does not have. */
export function isWine(): boolean {
  try {
    systemLibrary('ntdll.dll', 'Windows', ['void *wine_get_version()']).wine_get_version();
    return true;
  } catch {
    return false;
  }
}
