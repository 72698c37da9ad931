/**
 * The machine code, for x64, of a console handler that tells of CTRL_CLOSE, CTRL_LOGOFF and CTRL_SHUTDOWN and, if somebody takes care
 * of it, never returns. Everything else it leaves to the handlers that were there before. As C:
 *
 * ```c
 * BOOL handler(DWORD event) {
 *   if (event < CTRL_CLOSE_EVENT) return FALSE;
 *   if (!notify(event)) return FALSE;
 *   for (;;) Sleep(INFINITE);
 * }
 * ```
 *
 * @param notify the address of a `BOOL notify(DWORD event)`.
 * @param sleep the address of kernel32's Sleep.
 */
export function consoleHandlerCode(notify: bigint, sleep: bigint): Buffer {
  const code = Buffer.from(
    [
      '83 f9 02', //                       0 cmp ecx, 2
      '73 03', //                          3 jae 8
      '31 c0', //                          5 xor eax, eax
      'c3', //                             7 ret
      '48 83 ec 28', //                    8 sub rsp, 40: room for parameters, and the stack aligned
      '48 b8 00 00 00 00 00 00 00 00', // 12 mov rax, notify
      'ff d0', //                         22 call rax
      '85 c0', //                         24 test eax, eax
      '74 13', //                         26 jz 47
      'b9 ff ff ff ff', //                28 mov ecx, INFINITE
      '48 b8 00 00 00 00 00 00 00 00', // 33 mov rax, sleep
      'ff d0', //                         43 call rax
      'eb ed', //                         45 jmp 28
      '48 83 c4 28', //                   47 add rsp, 40
      'c3', //                            51 ret: eax is 0
    ]
      .join('')
      .replaceAll(' ', ''),
    'hex',
  );
  code.writeBigUInt64LE(notify, 14);
  code.writeBigUInt64LE(sleep, 35);
  return code;
}
