import type { Handle } from '../kernel32.js';
import { lazily, loadKoffi } from './system-library.js';

/** What this program itself exports: the file is the one that runs, so nothing is searched. */
export const libuv = lazily(() => {
  const own = loadKoffi().load(process.execPath);
  return {
    // https://docs.libuv.org/en/v1.x/fs.html#c.uv_open_osfhandle
    /** -1 when there is no room for another descriptor; else the descriptor owns the handle. */
    uv_open_osfhandle: own.func('int uv_open_osfhandle(intptr_t handle)') as (
      handle: Handle,
    ) => number,
  };
});
