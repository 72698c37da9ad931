import { call, OwnedHandle } from './calls/call.js';
import { FILE_SHARE_ALL, kernel32, OPEN_EXISTING } from './kernel32.js';

/** How {@link openFile} opens; constants of kernel32. */
export interface FileOpening {
  readonly access: number;
  /** Default: everything is shared. */
  readonly share?: number;
  /** SECURITY_ATTRIBUTES. Default: the handle is not inherited, and a new file gets the list that its folder gives. */
  readonly security?: Buffer;
  /** Default: it must be there. */
  readonly disposition?: number;
  readonly flags?: number;
}

/** Opens a file, a folder or, as its client, a pipe; the caller closes it. @throws WindowsError */
export function openFile(tried: string, path: string, opening: FileOpening): OwnedHandle {
  const { access, share = FILE_SHARE_ALL, disposition = OPEN_EXISTING, flags = 0 } = opening;
  const security = opening.security ?? null;
  const { CreateFileW } = kernel32;
  return new OwnedHandle(
    call(tried, CreateFileW, path, access, share, security, disposition, flags, 0),
  );
}
