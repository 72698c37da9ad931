import { systemLibrary } from '../win32/calls/system-library.js';

/** Lets specs skip features that Wine lacks. */
export function isWine(): boolean {
  try {
    systemLibrary('ntdll.dll', 'Windows', ['void *wine_get_version()']).wine_get_version();
    return true;
  } catch {
    return false;
  }
}
