# Does on Windows what the script of verbs-by-state.ts does. It has 2 KiB, because each start of a copy of node.exe costs two seconds of a processor
# under Wine: the daemon copies and hashes 100 MB. verbs-program.ts has its bytes, compressed by zlib and in base64. They are made by:
#   as --64 verbs-program.s -o verbs-program.o && objcopy -O binary -j .text verbs-program.o verbs-program.exe
.intel_syntax noprefix
.set RVA, 0x1000

file:
# DOS header
.ascii "MZ"
.zero 58
.long pe - file
# PE header: x64, one section, no relocations
pe:
.ascii "PE\0\0"
.short 0x8664, 1
.long 0, 0, 0
.short sections - optional, 0x23
optional:
.short 0x20b, 0
.long 0x600, 0, 0
.long start - section + RVA
.long RVA
.quad 0x140000000
.long 0x1000, 0x200
.short 6, 0, 0, 0, 6, 0
.long 0
.long 0x2000, 0x200, 0
# A console program
.short 3, 0x8100
.quad 0x100000, 0x1000, 0x100000, 0x1000
.long 0, 16
.quad 0
.long imports - section + RVA, 40
.zero 14 * 8
sections:
.ascii ".all\0\0\0\0"
.long 0x600, RVA, 0x600, 0x200
.long 0, 0, 0
.long 0xe0000060
.zero 0x200 - (. - file)

section:
start:
  sub rsp, 0x48
  call [rip + GetCommandLineW]
  # Skips the name of the program, which may be in quotation marks.
  mov rsi, rax
  mov bx, 0x20
  cmp word ptr [rsi], 0x22
  jne 1f
  add rsi, 2
  mov bx, 0x22
1:
  mov ax, [rsi]
  add rsi, 2
  cmp ax, bx
  jne 1b
  call skip
  # First argument: a file. Second argument: a digit. Third argument, if any: deaf.
  mov rdi, rsi
1:
  add rsi, 2
  cmp word ptr [rsi], 0x20
  jne 1b
  mov word ptr [rsi], 0
  add rsi, 2
  call skip
  movzx r12d, word ptr [rsi]
  sub r12d, 0x30
  movzx eax, word ptr [rsi + 2]
  mov [rip + deaf], eax
  # FILE_APPEND_DATA, OPEN_ALWAYS
  mov rcx, rdi
  mov edx, 4
  mov r8d, 3
  xor r9d, r9d
  mov qword ptr [rsp + 0x20], 4
  mov qword ptr [rsp + 0x28], 0x80
  mov qword ptr [rsp + 0x30], 0
  call [rip + CreateFileW]
  mov rbx, rax
  mov rcx, rax
  xor edx, edx
  call [rip + GetFileSize]
  cmp eax, r12d
  jae stay
  mov rcx, rbx
  lea rdx, [rip + up]
  mov r8d, 1
  call write
  jmp exit
stay:
  lea rcx, [rip + asked]
  mov edx, 1
  call [rip + SetConsoleCtrlHandler]
  lea rdx, [rip + up]
  mov r8d, up_end - up
  call print
  mov ecx, -1
  call [rip + Sleep]
exit:
  mov ecx, 7
  call [rip + ExitProcess]

# Called when the program is asked to end.
asked:
  sub rsp, 0x48
  cmp dword ptr [rip + deaf], 0
  je exit
  lea rdx, [rip + text]
  mov r8d, text_end - text
  call print
  mov eax, 1
  add rsp, 0x48
  ret

skip:
  cmp word ptr [rsi], 0x20
  jne 1f
  add rsi, 2
  jmp skip
1:
  ret

# Writes r8 bytes at rdx to standard output.
print:
  push rdx
  push r8
  sub rsp, 0x28
  mov ecx, -11
  call [rip + GetStdHandle]
  mov rcx, rax
  add rsp, 0x28
  pop r8
  pop rdx
# Writes r8 bytes at rdx to the file rcx.
write:
  sub rsp, 0x38
  lea r9, [rsp + 0x30]
  mov qword ptr [rsp + 0x20], 0
  call [rip + WriteFile]
  add rsp, 0x38
  ret

up: .ascii "up\n"
up_end:
text: .ascii "asked\n"
text_end:
.balign 8
deaf: .long 0, 0

imports:
.long 0, 0, 0
.long dll - section + RVA, addresses - section + RVA
.zero 20
.balign 8
addresses:
CreateFileW: .quad n1 - section + RVA
ExitProcess: .quad n2 - section + RVA
GetCommandLineW: .quad n3 - section + RVA
GetFileSize: .quad n4 - section + RVA
GetStdHandle: .quad n5 - section + RVA
SetConsoleCtrlHandler: .quad n6 - section + RVA
Sleep: .quad n7 - section + RVA
WriteFile: .quad n8 - section + RVA
.quad 0
dll: .asciz "kernel32.dll"
n1: .asciz "\0\0CreateFileW"
n2: .asciz "\0\0ExitProcess"
n3: .asciz "\0\0GetCommandLineW"
n4: .asciz "\0\0GetFileSize"
n5: .asciz "\0\0GetStdHandle"
n6: .asciz "\0\0SetConsoleCtrlHandler"
n7: .asciz "\0\0Sleep"
n8: .asciz "\0\0WriteFile"
.zero 0x800 - (. - file)
