import koffi from 'koffi';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { notifySupervisor } from './notify-supervisor.js';

const library = koffi.load(null);
const socket = library.func('int socket(int domain, int type, int protocol)');
const bind = library.func('int bind(int fd, const void *address, uint32_t length)');
const recv = library.func('intptr_t recv(int fd, _Out_ void *buffer, size_t size, int flags)');
const close = library.func('int close(int fd)');
const [AF_UNIX, SOCK_DGRAM, MSG_DONTWAIT] = [1, 2, 0x40];

function receiving(address: string, action: () => void): string {
  const fd = socket(AF_UNIX, SOCK_DGRAM, 0) as number;
  try {
    const bytes = Buffer.from(`\x01\0${address.replace(/^@/, '\0')}`, 'latin1');
    expect(bind(fd, bytes, bytes.length)).toBe(0);
    action();
    const buffer = Buffer.alloc(100);
    const size = recv(fd, buffer, buffer.length, MSG_DONTWAIT) as number;
    return buffer.toString('utf8', 0, Math.max(0, size));
  } finally {
    close(fd);
  }
}

describe('a supervisor', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-notify-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is told at a path, and at a name of the abstract namespace', () => {
    for (const address of [path.join(folder, 'notify'), `@wins-notify-${process.pid}`])
      expect(receiving(address, () => notifySupervisor(address, 'READY=1'))).toBe('READY=1');
  });

  it.each(['', 'notify', '@', `/${'x'.repeat(107)}`])('is not told at %j', (address) => {
    expect(() => notifySupervisor(address, 'READY=1')).toThrow(
      /NOTIFY_SOCKET is not a socket address/,
    );
  });

  it('that does not listen is told of by an error', () => {
    expect(() => notifySupervisor(path.join(folder, 'gone'), 'READY=1')).toThrow(
      /: no such file or directory$/,
    );
  });
});
